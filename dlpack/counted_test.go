//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"context"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// eachKernel is eachDevice with the emulator, which runs kernels.
func eachKernel(t *testing.T, f func(t *testing.T, m *memory.Manager)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) { f(t, newManager(t, dev)) })
}

// dimensionsOf returns the shape of a tensor.
func dimensionsOf(tensor *dlpack.Tensor) []int64 {
	described := tensorOf(tensor)
	return unsafe.Slice((*int64)(pointerAt(described.Shape)), described.NDim)
}

// counted gives a column a row count that only the device has. It takes the column
// over.
func counted(t testing.TB, m *memory.Manager, c *column.Column, rows int64) *column.Column {
	t.Helper()
	word, err := memory.NewSlice[int64](m, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, word.Upload(t.Context(), nil, []int64{rows}))
	count, err := column.NewRowCount(word, int64(c.Len()))
	require.NoError(t, err)
	made, err := c.WithRows(count)
	require.NoError(t, err)
	require.NoError(t, word.Release())
	require.NoError(t, count.Release())
	require.NoError(t, c.Release())
	return made
}

// A tensor of a column with a device row count has the actual number of rows, never
// the capacity: for numbers, booleans, lists, bitmaps and matrices.
func TestExportOfCountedColumns(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		for _, rows := range []int64{0, 3, 8} {
			numbers := func() *column.Column { return counted(t, m, newInts(t, m, 8), rows) }
			bools := func() *column.Column {
				return counted(t, m, newColumn(t, m, column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: 8}, nil, []byte{0x5a}), rows)
			}
			lists := func() *column.Column {
				return counted(t, m, newLists(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), 0, 8, newInts(t, m, 16)), rows)
			}
			for name, each := range map[string]struct {
				make   func() *column.Column
				export func(c *column.Column, options ...dlpack.ExportOptions) (*dlpack.Tensor, error)
				shape  []int64
			}{
				"numbers":  {numbers, dlpack.Export, []int64{rows}},
				"booleans": {bools, dlpack.Export, []int64{rows}},
				"lists":    {lists, dlpack.Export, []int64{rows, 2}},
				"matrix": {numbers, func(c *column.Column, options ...dlpack.ExportOptions) (*dlpack.Tensor, error) {
					return dlpack.ExportMatrix([]*column.Column{c, c}, options...)
				}, []int64{rows, 2}},
			} {
				t.Run(name, func(t *testing.T) {
					c := each.make()
					tensor, err := each.export(c)
					require.NoError(t, err)
					require.Equal(t, each.shape, dimensionsOf(tensor))
					require.NoError(t, tensor.Release())
					require.NoError(t, c.Release())

					c = each.make()
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					_, err = each.export(c, dlpack.ExportOptions{Context: ctx})
					require.ErrorIs(t, err, context.Canceled, "the wait for the row count ends with the context")
					require.NoError(t, c.Release())
				})
			}
		}
		bits := counted(t, m, newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int8, Length: 64, NullCount: column.UnknownNullCount}, pattern(8), pattern(64)), 17)
		tensor, err := dlpack.ExportValidity(bits)
		require.NoError(t, err)
		require.Equal(t, []int64{3}, dimensionsOf(tensor))
		require.NoError(t, tensor.Release())
		require.NoError(t, bits.Release())
		requireNothingHeld(t, m)
	})
}

// An unknown null count is computed over the elements that the tensor covers.
func TestExportCountsNulls(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		validity := []byte{0xff, 0xf7, 0xff} // element 11 is null
		of := func(nulls int) *column.Column {
			return newColumn(t, m, column.Data{Type: arrow.PrimitiveTypes.Int32, Length: 24, NullCount: nulls}, validity, pattern(96))
		}
		for _, nulls := range []int{column.UnknownNullCount, 1} {
			whole := of(nulls)
			_, err := dlpack.Export(whole)
			require.ErrorIs(t, err, dlpack.ErrNulls)
			require.ErrorContains(t, err, "1 of 24 elements are null")
			for _, each := range []struct {
				from, count int
				fails       bool
			}{{0, 11, false}, {0, 12, true}, {11, 1, true}, {12, 12, false}, {5, 0, false}} {
				part, err := whole.Slice(each.from, each.count)
				require.NoError(t, err)
				tensor, err := dlpack.Export(part)
				require.Equal(t, each.fails, err != nil, "%v: %v", each, err)
				if err == nil {
					require.Equal(t, []int64{int64(each.count)}, dimensionsOf(tensor))
					require.NoError(t, tensor.Release())
				}
				require.NoError(t, part.Release())
			}
			// For lists only the items of the covered rows count.
			lists := newLists(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), 0, 12, whole)
			_, err = dlpack.Export(lists)
			require.ErrorIs(t, err, dlpack.ErrNulls)
			part, err := lists.Slice(6, 6)
			require.NoError(t, err)
			tensor, err := dlpack.Export(part)
			require.NoError(t, err)
			require.Equal(t, []int64{6, 2}, dimensionsOf(tensor))
			require.NoError(t, tensor.Release())
			require.NoError(t, part.Release())
			require.NoError(t, lists.Release())
		}
		requireNothingHeld(t, m)
	})
}

// A tensor without elements is on the device of its column's manager.
func TestExportOfNoElementsKnowsItsDevice(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		want := cabi.Device{Type: cabi.DeviceCPU}
		if m.Device().Kind() == device.CUDA {
			want = cabi.Device{Type: cabi.DeviceCUDA, ID: int32(m.Device().Info().Ordinal)}
		}
		for _, dataType := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Boolean} {
			c, err := column.New(column.Data{Type: dataType, Buffers: make([]column.Bytes, 2), Manager: m})
			require.NoError(t, err)
			tensor, err := dlpack.Export(c)
			require.NoError(t, err)
			require.Equal(t, want, tensorOf(tensor).Device)
			require.Zero(t, tensorOf(tensor).Data)
			require.NoError(t, tensor.Release())
			matrix, err := dlpack.ExportMatrix([]*column.Column{c, c})
			require.NoError(t, err)
			require.Equal(t, want, tensorOf(matrix).Device)
			require.NoError(t, matrix.Release())
			require.NoError(t, c.Release())
		}
		requireNothingHeld(t, m)
	})
}
