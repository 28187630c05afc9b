package gpuframe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// A filter of a table that the budget has no room for counts its rows: if they are few it has one result of them, and
// an aggregation filters in the same way.
func TestFiltersWithinBudgets(t *testing.T) {
	const rows = 40_000
	records := drawn(t, 1, 1, rows)
	id, few := gpuframe.Col("id"), gpuframe.Col("few")
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		engine := engineOn(t, dev)
		table, err := engine.Records(nil, records...).Collect(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		bytes := table.Table().Bytes()
		tenant, err := engine.Tenant("tenant", bytes/2)
		require.NoError(t, err)
		defer func() { require.NoError(t, tenant.Close()) }()
		all := tenant.Table(table.Table())
		for _, kept := range []int64{0, 300, rows / 8, rows / 2, rows - 300, rows} {
			frames := 0
			for f, err := range all.Filter(id.Lt(gpuframe.Lit(kept))).Batches(t.Context()) {
				require.NoError(t, err)
				require.NoError(t, f.Release())
				frames++
			}
			if kept == 300 || kept == rows/8 {
				require.Equal(t, 1, frames, "%d rows", kept)
			}
			query := func(q gpuframe.Query) gpuframe.Query {
				return q.Filter(id.Lt(gpuframe.Lit(kept))).GroupBy(few).Agg(id.Sum(), gpuframe.Count()).Sort(few)
			}
			tenant.Manager().ResetPeak()
			require.Equal(t, lines(t, query(engine.Table(table.Table()))), lines(t, query(all)), "%d rows", kept)
			if kept == 300 {
				require.Less(t, tenant.Manager().Stats().Peak, bytes/10)
			}
			require.Equal(t, lines(t, engine.Table(table.Table()).Filter(id.Lt(gpuframe.Lit(kept)))), lines(t, all.Filter(id.Lt(gpuframe.Lit(kept)))))
		}
	})
}
