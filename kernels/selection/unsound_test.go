package selection_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/hostword"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// onDevice uploads values to memory that the test releases.
func onDevice[T memory.Element](t *testing.T, mgr *memory.Manager, values ...T) column.Bytes {
	t.Helper()
	made, err := memory.NewSlice[T](mgr, len(values), memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, made.Upload(t.Context(), nil, values))
	release(t, made)
	return made.AsBytes()
}

// unsound returns columns of strings and lists with unchecked offsets.
func unsound(t *testing.T, mgr *memory.Manager) map[string]*column.Column {
	columns := map[string]*column.Column{}
	add := func(name string, data column.Data) *column.Column {
		c, err := column.New(data)
		require.NoError(t, err)
		release(t, c)
		columns[name] = c
		return c
	}
	bytes := onDevice(t, mgr, []uint8("abc")...)
	numbers := add("", column.Data{Type: arrow.PrimitiveTypes.Int32, Length: 3, Buffers: []column.Bytes{{}, onDevice[int32](t, mgr, 1, 2, 3)}})
	delete(columns, "")
	for i, offsets := range [][]int32{
		{0, -7, 3, 3}, {3, 2, 1, 0}, {0, 1, 2, 1 << 30}, {math.MinInt32, 0, math.MaxInt32, 3}, {0, 3, 0, 3}, {0, 3, 0, math.MaxInt32},
	} {
		rows := len(offsets) - 1
		large := make([]int64, len(offsets))
		for k, offset := range offsets {
			large[k] = int64(offset) << 30
		}
		narrow, wide := onDevice(t, mgr, offsets...), onDevice(t, mgr, large...)
		add(fmt.Sprint("strings ", i), column.Data{Type: arrow.BinaryTypes.Binary, Length: rows, Buffers: []column.Bytes{{}, narrow, bytes}})
		add(fmt.Sprint("large strings ", i), column.Data{Type: arrow.BinaryTypes.LargeBinary, Length: rows, Buffers: []column.Bytes{{}, wide, bytes}})
		list := column.Data{Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Length: rows, Buffers: []column.Bytes{{}, narrow}, Children: []*column.Column{numbers}}
		lists := add(fmt.Sprint("lists ", i), list)
		list.Type, list.Buffers = arrow.LargeListOf(arrow.PrimitiveTypes.Int32), []column.Bytes{{}, wide}
		add(fmt.Sprint("large lists ", i), list)
		add(fmt.Sprint("struct of lists ", i), column.Data{
			Type: arrow.StructOf(arrow.Field{Name: "a", Type: list0}), Length: rows, Buffers: []column.Bytes{{}}, Children: []*column.Column{lists},
		})
	}
	return columns
}

var list0 = arrow.ListOf(arrow.PrimitiveTypes.Int32)

// TestUnsoundOffsets runs all operators on columns with offsets that are not in order
// or point outside the data. No operator may panic, leak, or read outside the data, at
// which the emulator would stop. On the host each operator returns an error; on a GPU a
// take that checks does.
func TestUnsoundOffsets(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		indices := onDevice[int32](t, mgr, 2, 1, 0, 2, 0)
		order, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int32, Length: 5, Buffers: []column.Bytes{{}, indices}})
		require.NoError(t, err)
		release(t, order)
		bits, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: 3, Buffers: []column.Bytes{{}, onDevice[uint8](t, mgr, 5)}})
		require.NoError(t, err)
		release(t, bits)
		operations := map[string]func(context.Context, *column.Column) (releaser, error){
			"take": func(ctx context.Context, c *column.Column) (releaser, error) {
				return selection.TakeColumn(ctx, c, order)
			},
			"filter": func(ctx context.Context, c *column.Column) (releaser, error) {
				return selection.FilterColumn(ctx, c, bits)
			},
			"reverse": func(ctx context.Context, c *column.Column) (releaser, error) {
				return selection.ReverseColumn(ctx, c)
			},
			"concat": func(ctx context.Context, c *column.Column) (releaser, error) {
				return selection.ConcatColumns(ctx, []*column.Column{c, c})
			},
			"choose": func(ctx context.Context, c *column.Column) (releaser, error) {
				return selection.Choose(ctx, bits, c, c)
			},
			"take of null": func(ctx context.Context, c *column.Column) (releaser, error) {
				return selection.TakeColumnWith(ctx, c, order, selection.TakeOptions{Bounds: selection.Null})
			},
		}
		for name, c := range unsound(t, mgr) {
			for operation, run := range operations {
				t.Run(operation+" "+name, func(t *testing.T) {
					made, err := run(t.Context(), c)
					require.NoError(t, made.Release())
					if err != nil {
						require.True(t, errors.Is(err, column.ErrInvalid) || errors.Is(err, memory.ErrOverflow), "%v", err)
					}
					if operation == "take" {
						require.ErrorIs(t, err, column.ErrInvalid)
						require.ErrorContains(t, err, "offsets")
					}
				})
			}
		}
	})
}

type releaser interface{ Release() error }

// TestFailedTakesLoseNoWords makes takes fail after their kernels have a word of
// page-locked memory, and checks that the same word is reused.
func TestFailedTakesLoseNoWords(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 20})
		builder := array.NewInt64Builder(arrowmemory.DefaultAllocator)
		defer builder.Release()
		for i := range 1000 {
			builder.Append(int64(i))
		}
		values := builder.NewArray()
		defer values.Release()
		c := upload(t, mgr, values, 0, 0)
		hold, err := memory.NewSlice[uint8](mgr, 1<<20-12000, memory.AllocateOptions{})
		require.NoError(t, err)
		release(t, hold)
		seen := map[device.Pointer]bool{}
		for range 100 {
			_, err := selection.TakeColumn(t.Context(), c, c)
			require.ErrorIs(t, err, memory.ErrBudget)
			require.NoError(t, mgr.Stream().Synchronize(t.Context()))
			word, err := hostword.Take(dev, 1)
			require.NoError(t, err)
			seen[word.Pointer()] = true
			word.Release()
		}
		require.LessOrEqual(t, len(seen), 2)
	})
}
