package duckdb

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/sql/parse"
)

// TestSingleRows compares scalar subqueries of which only the run can tell whether they have one row.
func TestSingleRows(t *testing.T) {
	p := open(t, 1)
	for _, text := range []string{
		"select id, (select name from c where w = (select max(w) from c) limit 1) from a", "select id, (select id from b where id = 3) from a", "select id, (select id from b where id = -3) from a", "select (select k from e)",
		"select id, (select b.z from b where b.id = a.id) from a", "select id from a where x > (select b.k from b where b.id = a.id)", "select id, (select distinct x % 1 from a i where i.k = o.k and i.x is not null) from a o",
		"select id, (select max(z) from b where b.k = a.k group by b.k) from a", "select id, (select count(*) from b where b.k = a.k group by b.k) + 1 from a", "select sum(x) from a having sum(x) > (select id from b where id = 1)",
		"select id from a where id = (select id from b where id = 2 union select id from b where id = 2)", "select (select x from (values (1)) t(x)), (select null where false)", "select id, (select null from b where b.id = a.id) is null from a",
		"select k, sum(x) + (select id from b where id = 1) from a group by k", "select id, case when id < 3 then (select b.id from b where b.id = a.id + 1) end from a", "select id, (select b.s from b where b.id = a.id and b.k = a.k) from a",
		"with t as (select k, count(*) as n from a group by k) select k, (select n from t where t.k = c.k) from c", "select (select id from a where id = o.id) = (select id from b where id = o.id) from a o",
	} {
		difference, err := p.difference(t.Context(), text, false)
		require.NoError(t, err, text)
		require.Empty(t, difference, text)
	}
	for _, text := range []string{
		"select (select id from b)", "select id from a where x > (select z from b)", "select id, (select b.id from b where b.k = a.k) from a", "select id from a where (select b.id from b where b.k <> a.k) > 3",
		"select (select max(z) from b group by k)", "select id, (select null from b where b.k = a.k) from a", "select (select null from b)", "select (select 1 union all select 2)", "select sum((select id from b where b.k = a.k)) from a",
	} {
		_, err := p.theirs(text)
		require.Error(t, err, text)
		_, _, err = p.mine(t.Context(), text)
		require.ErrorContains(t, err, "the subquery has several rows", text)
		var failure *parse.Error
		require.True(t, errors.As(err, &failure), text)
	}
	require.Zero(t, p.engine.Manager().Stats().InUse)
}
