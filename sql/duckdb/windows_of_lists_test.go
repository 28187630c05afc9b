package duckdb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWindowsOfLists compares discrete quantiles, and lists with FILTER, as windows.
func TestWindowsOfLists(t *testing.T) {
	p := open(t, 1)
	for _, text := range []string{
		"select id, quantile_disc(x, 0.5) over (partition by k), quantile_disc(s, 0.25) over (partition by f) from a", "select id, quantile_disc(y, 0.9) over (order by id rows between 3 preceding and 1 following) from a",
		"select id, quantile_disc(d, 0.5) over (partition by k order by id), quantile_disc(m, 0) over (), quantile_disc(x, 1) over (partition by k) from a", "select id, quantile_disc(x, 0.5) filter (where f) over (partition by k) from a", "select id, percentile_disc(0.3) within group (order by x) from a group by id",
		"select id, list(x) filter (where f) over (partition by k order by id) from a", "select id, array_agg(s) filter (where x > 1) over (partition by k order by id rows between 2 preceding and current row) from a",
		"select id, list(x) filter (where false) over (partition by k) from a",
	} {
		difference, err := p.difference(t.Context(), text, false)
		require.NoError(t, err, text)
		require.Empty(t, difference, text)
	}
}
