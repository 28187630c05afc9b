package duckdb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQuantiles compares quantiles without interpolation.
func TestQuantiles(t *testing.T) {
	p := open(t, 1)
	list := []string{
		"select k, quantile_disc(s, 0.5), quantile_disc(d, 0.3), quantile_disc(m, 0.5), quantile_disc(f, 0.6) from a group by k", "select quantile_disc(v, 0.5), quantile_disc(v, 0.9), quantile_disc(t, 0.1) from b",
		"select quantile_disc(x, 0.5), count(*), sum(distinct x) from a", "select quantile_disc(v, 0.5) from e", "select k, quantile_disc(v, 0.5) from e group by k", "select quantile_disc(x, 0.5) from a where x is null",
		"select k, quantile_disc(x, 0.5) filter (where f), quantile_disc(distinct x, 0.5), quantile(y, 0.7) from a group by k", "select k, f, quantile_disc(x, 0.5), grouping(k) from a group by rollup(k, f)",
		"select percentile_disc(0.25) within group (order by x), percentile_disc(0.25) within group (order by x desc), percentile_disc(0.25) within group (order by s) from a", "select id, (select quantile_disc(z, 0.5) from b where b.k = a.k) from a",
		"select k from a group by k having quantile_disc(x, 0.5) > 1", "select k, quantile_disc(x + 1, 0.5) + max(x) from a group by k", "select quantile_disc(x, -0.25), quantile_disc(x, -1), quantile_disc(x, 0), quantile_disc(x, 1) from a",
	}
	for _, rows := range []int{1, 2, 3, 7, 10, 100, 144} {
		for _, fraction := range []string{"0.07", "0.1", "0.29", "0.5", "0.57", "0.7", "0.9", "0.999", "0.123456789012", "1e-1"} {
			list = append(list, fmt.Sprintf("select quantile_disc(i, %s) from range(%d) t(i)", fraction, rows))
		}
	}
	for _, text := range list {
		difference, err := p.difference(t.Context(), text, false)
		require.NoError(t, err, text)
		require.Empty(t, difference, text)
	}
}
