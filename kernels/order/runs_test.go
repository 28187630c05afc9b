package order_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// TestFindRuns compares the runs of the first key in the order of all keys with neighbours
// of the model's order, for row numbers and for a sorted table.
func TestFindRuns(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		c := newCase(g, g.IntN(100), types...)
		defer c.release()
		table := c.table(t, mgr)
		rows, err := order.Indices(t.Context(), table, c.keys())
		require.NoError(t, err, name)
		listed, err := column.Elements[uint32](rows)
		require.NoError(t, err)
		sorted, err := order.Sort(t.Context(), table, c.keys())
		require.NoError(t, err, name)
		first := c.keys()[:1]
		byNumber, err := order.FindRuns(t.Context(), table, listed, first)
		require.NoError(t, err, name)
		inOrder, err := order.FindRuns(t.Context(), sorted, memory.Slice[uint32]{}, first)
		require.NoError(t, err, name)
		var numbers, begins []uint32
		for i, row := range c.want() {
			if i == 0 || ordertest.CompareRows(c.arrays[:1], int(c.want()[i-1]), c.arrays[:1], int(row), c.directions[:1]) != 0 {
				begins = append(begins, uint32(i))
			}
			numbers = append(numbers, uint32(len(begins)-1))
		}
		if c.rows() > 0 {
			begins = append(begins, uint32(c.rows()))
		}
		for _, runs := range []*order.Runs{byNumber, inOrder} {
			require.Equal(t, len(numbers), runs.Numbers.Len(), name)
			got := make([]uint32, runs.Numbers.Len())
			at := make([]uint32, runs.Begins.Len())
			require.NoError(t, runs.Numbers.Download(t.Context(), nil, got))
			require.NoError(t, runs.Begins.Download(t.Context(), nil, at))
			require.Equal(t, append([]uint32{}, numbers...), got, name)
			require.Equal(t, begins, at[:len(begins)], name)
			require.NoError(t, runs.Release())
		}
		require.NoError(t, sorted.Release())
		require.NoError(t, rows.Release())
		require.NoError(t, table.Release())
	})
}
