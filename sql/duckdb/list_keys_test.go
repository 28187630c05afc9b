package duckdb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestListsAsKeys compares groups, distinct rows, set operations, windows and memberships of lists.
func TestListsAsKeys(t *testing.T) {
	p := open(t, 1)
	for _, text := range []string{
		"select [k, x] as l, count(*), sum(id) from a group by l", "select count(*) from a group by [s]", "select [k, null] as l, f, min(s) from a group by l, f", "select [[k], [x, null]] as l, count(*) from a group by all",
		"select {'a': [k], 'b': s} as r, count(*) from a group by r", "select case when id % 3 > 0 then list_slice([k, x], 1, id % 3) end as l, count(*), max(d) from a group by l", "select [v] as l, count(*) from b group by l",
		"select distinct [k, x] from a", "select distinct {'a': [k]} as r, f from a", "select distinct on ([k]) [k], id from a order by [k], id",
		"select [k] from a union select [k] from b", "select [k] from a except select [k] from b", "select [k, x] from a intersect select [k, 1] from b", "select [s] from a except all select [s] from b", "select [k] from a intersect all select [k] from b",
		"select id from a where [k] in (select [k] from b)", "select id, [k, x] in (select [k, w] from c) from a", "select id from a where [k, x] not in (select [k, w] from c where k is not null)",
		"select id, count(*) over (partition by [k, f::int]) from a", "select id, row_number() over (partition by [k] order by id) from a",
		"select [k] as l, f, count(*), grouping(l, f) from a group by rollup(l, f)", "select {'a': k} as r, count(*), grouping(r) from a group by cube(r)",
		"select count(distinct [k, x]), count(distinct {'a': k}), count(distinct [s]) filter (where f) from a", "select k, count(distinct [x]) from a group by k", "select k, (select count(distinct [x]) from a where a.k = c.k) from c",
	} {
		difference, err := p.difference(t.Context(), text, false)
		require.NoError(t, err, text)
		require.Empty(t, difference, text)
	}
}
