package exchange_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// numberedTable makes a table of keys "a" and numbers "b".
func numberedTable(t testing.TB, mgr *memory.Manager, keys []int32, first int32) *buffer.Buffer {
	numbers := make([]int32, len(keys))
	for i := range numbers {
		numbers[i] = first + int32(i)
	}
	var columns []*column.Column
	for _, values := range [][]int32{keys, numbers} {
		c, err := column.FromSlice(t.Context(), mgr, values, column.SliceOptions{})
		require.NoError(t, err)
		columns = append(columns, c)
	}
	table := columntest.TableOf(t, mgr, -1, columns...)
	for _, c := range columns {
		require.NoError(t, c.Release())
	}
	return table
}

// Random tables on several devices are exchanged by ranges: the rows of device 0, then of device 1
// and so on, each sorted stably, are the sorted rows of all. Bounds may be equal.
func TestSortByRanges(t *testing.T) {
	eachMachine(t, 3, func(t *testing.T, managers []*memory.Manager) {
		property.Check(t, func(r *rapid.T) {
			keys := []order.Key{{Column: "a", Descending: rapid.Bool().Draw(r, "descending")}}
			few := rapid.SliceOfN(rapid.Int32Range(-3, 3), 0, 60)
			bounds := rapid.SliceOfN(rapid.Int32Range(-4, 4), 2, 2).Draw(r, "bounds")
			slices.Sort(bounds)
			if keys[0].Descending {
				slices.Reverse(bounds)
			}
			parts := make([][]*buffer.Buffer, 3)
			var want [][2]int32
			for i, mgr := range managers {
				values := few.Draw(r, "keys")
				for j, key := range values {
					want = append(want, [2]int32{key, int32(100*i + j)})
				}
				table, of := numberedTable(t, mgr, values, int32(100*i)), numberedTable(t, mgr, bounds, 0)
				var err error
				parts[i], err = exchange.PartitionByRange(t.Context(), table, of, keys)
				require.NoError(r, err)
				require.Len(r, parts[i], 3)
			}
			slices.SortStableFunc(want, func(x, y [2]int32) int {
				if keys[0].Descending {
					x, y = y, x
				}
				return cmp.Compare(x[0], y[0])
			})
			tables, err := exchange.AllToAll(t.Context(), parts, managers)
			require.NoError(r, err)
			var got [][2]int32
			for _, table := range tables {
				sorted, err := order.Sort(t.Context(), table, keys)
				require.NoError(r, err)
				record := columntest.Fetch(t, sorted)
				for row := range int(record.NumRows()) {
					got = append(got, [2]int32{record.Column(0).(*array.Int32).Value(row), record.Column(1).(*array.Int32).Value(row)})
				}
				require.NoError(r, table.Release())
			}
			require.Equal(r, want, got)
			for i := range parts {
				for _, part := range parts[i] {
					require.NoError(r, part.Release())
				}
			}
		})
	})
}

func TestPartitionByRangeOfNothing(t *testing.T) {
	mgr := managersOf(t, devicetest.Hosts(t, 1), memory.Options{})[0]
	keys := []order.Key{{Column: "a"}}
	table, none := numberedTable(t, mgr, []int32{3, 1}, 0), numberedTable(t, mgr, nil, 0)
	parts, err := exchange.PartitionByRange(t.Context(), table, none, keys)
	require.NoError(t, err)
	require.Equal(t, []*buffer.Buffer{table}, parts) // no bound makes one part
	require.NoError(t, parts[0].Release())

	parts, err = exchange.PartitionByRange(t.Context(), none, table, []order.Key{{Column: "a", Descending: true}})
	require.NoError(t, err)
	require.Len(t, parts, 3)
	for _, part := range parts {
		rows, err := part.NumRows(t.Context())
		require.NoError(t, err)
		require.Zero(t, rows)
		require.NoError(t, part.Release())
	}
	_, err = exchange.PartitionByRange(t.Context(), table, table, keys) // 3, 1 is not sorted
	require.ErrorIs(t, err, order.ErrUnsorted)
	_, err = exchange.PartitionByRange(t.Context(), nil, table, keys)
	require.Error(t, err)
	_, err = exchange.PartitionByRange(t.Context(), table, table, nil)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "exchange: partition by range")
}
