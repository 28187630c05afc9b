package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// TestMoments compares moments of the groups of random tables with those of DuckDB, which has no result for
// equal values or of one value: no group of these tables is so small.
func TestMoments(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	g := rand.New(rand.NewPCG(seed, 1))
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	f, i := gpuframe.Col("f"), gpuframe.Col("i")
	for _, rows := range []int{300, 5000} {
		record, values := windowRows(g, rows)
		p := peerOf(t, values)
		frame, err := e.Records(record.Schema(), record).GroupBy(gpuframe.Col("p")).Agg(
			f.Variance().As("a"), i.StdDev().As("b"), f.Kurtosis().As("c"), i.Kurtosis().As("d"), f.KurtosisPop().As("e"), i.KurtosisPop().As("g"),
			gpuframe.Correlation(f, i).As("h"), gpuframe.Covariance(f, i).As("j"),
		).Sort(gpuframe.Col("p").Asc()).Collect(t.Context())
		require.NoError(t, err)
		got, err := frame.Record(t.Context())
		require.NoError(t, err)
		want, err := p.Answer(`select p, var_samp(f), stddev_samp(i), kurtosis(f), kurtosis(i), kurtosis_pop(f), kurtosis_pop(i), corr(f, i), covar_samp(f, i)
			from t group by p order by p nulls last`)
		require.NoError(t, err)
		require.EqualValues(t, len(want.Rows), got.NumRows())
		for row := range want.Rows {
			for n, text := range want.Rows[row] {
				c := got.Column(n)
				require.True(t, sameValue(c.ValueStr(row), c.IsNull(row), text), "%d rows, group %d, aggregate %d: %s, DuckDB %s", rows, row, n, c.ValueStr(row), text)
			}
		}
		got.Release()
		record.Release()
		require.NoError(t, frame.Release())
		require.NoError(t, p.Close())
	}
}
