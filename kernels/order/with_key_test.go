package order_test

import (
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// TestIndicesWithKey compares the numbers of rows with those of Indices, and the values with
// those of SortColumn.
func TestIndicesWithKey(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(8)
		for _, keyType := range []arrow.DataType{
			arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.String,
		} {
			for _, n := range []int{0, 1, 900, 5000} {
				for _, descending := range []bool{false, true} {
					values := smallNumbers(g, keyType, n)
					c, err := column.FromArray(t.Context(), mgr, values, column.UploadOptions{})
					require.NoError(t, err)
					table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "k", Type: keyType}}, nil), []*column.Column{c}, buffer.Rows{Count: int64(n)})
					require.NoError(t, err)
					key := order.Key{Column: "k", Descending: descending}
					rows, inOrder, err := order.IndicesWithKey(t.Context(), table, key)
					require.NoError(t, err)
					want, err := order.Indices(t.Context(), table, []order.Key{key})
					require.NoError(t, err)
					requireEqualColumns(t, want, rows)
					if inOrder != nil {
						sorted, err := order.SortColumn(t.Context(), c, order.ColumnOptions{Descending: descending})
						require.NoError(t, err)
						requireEqualColumns(t, sorted, inOrder)
						require.NoError(t, sorted.Release())
					}
					wide := keyType.ID() == arrow.INT32 || keyType.ID() == arrow.UINT64 || keyType.ID() == arrow.FLOAT64
					require.Equal(t, wide && n > 0 && dev.Kind() != device.Host, inOrder != nil, "%v, %d rows", keyType, n)
					values.Release()
					for _, r := range []*column.Column{rows, inOrder, want, c} {
						require.NoError(t, r.Release())
					}
					require.NoError(t, table.Release())
				}
			}
		}
	})
}

// smallNumbers makes an array of texts of numbers, without nulls.
func smallNumbers(g *arraytest.Generator, t arrow.DataType, n int) arrow.Array {
	b := array.NewBuilder(arrowalloc.DefaultAllocator, t)
	defer b.Release()
	for range n {
		if err := b.AppendValueFromString(strconv.Itoa(g.IntN(500))); err != nil {
			panic(err)
		}
	}
	return b.NewArray()
}

func requireEqualColumns(t *testing.T, want, got *column.Column) {
	t.Helper()
	a, err := want.Array(t.Context())
	require.NoError(t, err)
	defer a.Release()
	b, err := got.Array(t.Context())
	require.NoError(t, err)
	defer b.Release()
	require.True(t, array.Equal(a, b), "%v, expected %v", b, a)
}
