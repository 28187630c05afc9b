package duckdb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSummarize compares SUMMARIZE with the same statistics of DuckDB, whose own are approximate.
func TestSummarize(t *testing.T) {
	p := open(t, 1)
	for _, table := range []string{"a", "c", "e", "(select x, d from a where id < 9)"} {
		statement := "summarize " + table
		if table[0] == '(' {
			statement = "summarize " + table[1:len(table)-1]
		}
		names, mine, err := p.mine(t.Context(), statement)
		require.NoError(t, err)
		theirs, err := p.theirs("select * exclude (avg, std, q25, q50, q75, approx_unique), try_cast(avg as double), try_cast(std as double) from (" + statement + ")")
		require.NoError(t, err)
		require.Len(t, mine, len(theirs))
		require.Equal(t, []string{"column_name", "column_type", "min", "max", "approx_unique", "avg", "std", "q25", "q50", "q75", "count", "null_percentage"}, names)
		for i, row := range mine {
			require.Equal(t, theirs[i][:4], row[:4], statement)
			require.Equal(t, theirs[i][4:6], row[10:], statement)
			if row[5] == "null" { // DuckDB has averages of dates too
				continue
			}
			own, err := p.theirs("select count(distinct " + row[0] + "), avg(" + row[0] + "), stddev(" + row[0] + "), quantile_cont(" + row[0] + ", 0.25), median(" + row[0] + ") from " + table)
			require.NoError(t, err)
			parsed, err := p.theirs("select " + row[4] + ", '" + row[5] + "'::double, nullif('" + row[6] + "', 'null')::double, '" + row[7] + "'::double, '" + row[8] + "'::double")
			require.NoError(t, err)
			require.Equal(t, own, parsed, statement)
		}
	}
}
