package duckdb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApproximations compares estimates with DuckDB's: whether both are near the exact value, and values of which all estimates are
// exact.
func TestApproximations(t *testing.T) {
	p := open(t, 1)
	for _, text := range []string{
		"select abs(approx_quantile(i, 0.3) - 3000) < 200, abs(approx_quantile(i::double, 0.5) - 5000) < 200, abs(approx_quantile(i::float, 0.99) - 9900) < 100, abs(approx_quantile(i::decimal(9, 2), 0.5) - 5000) < 200 from (select i * 7919 % 10007 as i from range(10007) t(i))",
		"select k, abs(approx_quantile(i, 0.5) - 5000) < 300 from (select i * 7919 % 10007 as i, i % 3 as k from range(10007) t(i)) group by k",
		"select approx_quantile(7, 0.5), approx_quantile(x / x, [0.1, 0.9]), approx_quantile(x, 0.5) filter (where x is null) from a where x <> 0",
		"select approx_quantile(d, 0.5), approx_quantile(d, [0.2, 0.7]) from (select max(d) as d from a)", "select approx_quantile(t, 0.5) from (select max(t) as t from b)",
		"select approx_quantile(i::smallint, 0.5) from range(1) t(i)", "select approx_quantile(x, 0.5) from a where false", "select approx_quantile(x::float, [0, 1])[1] = min(x::float) from a",
		"select approx_top_k(greatest(i, 50), 1), approx_top_k((least(i, 20) || 'x'), 1), approx_top_k(case when i < 60 then date '2020-01-01' end, 3), approx_top_k(i > 30, 2) from range(100) t(i)",
		"select k, approx_top_k(case when i % 4 > 0 then 1.5 else i end, 1) from (select i, i % 2 as k from range(100) t(i)) group by k", "select approx_top_k(x, 2) from a where x is null", "select approx_top_k(s, 2) from a where false",
	} {
		difference, err := p.difference(t.Context(), text, false)
		require.NoError(t, err, text)
		require.Empty(t, difference, text)
	}
}
