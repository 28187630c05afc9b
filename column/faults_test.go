package column_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

var errInjected = errors.New("injected")

// failing is a resource that fails allocation number fail.
type failing struct {
	memory.Resource
	count, fail atomic.Int64
}

func (f *failing) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if f.count.Add(1) == f.fail.Load() {
		return resource.Allocation{}, errInjected
	}
	return f.Resource.Allocate(bytes, stream)
}

func TestFailedAllocationsHoldNothing(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		resource := &failing{Resource: memory.NewDriverResource(dev)}
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource})
		var columns [][]arrow.Array
		for i, dataType := range arraytest.AllTypes() {
			columns = append(columns, []arrow.Array{arraytest.NewGenerator(uint64(i)).Array(dataType, 20)})
		}
		for n := int64(1); n <= 3; n++ {
			resource.count.Store(0)
			resource.fail.Store(n)
			var held []*column.Column
			for call := int64(1); call <= 3; call++ {
				moved, err := column.FromArrays(t.Context(), mgr, columns, column.UploadOptions{Tag: "test"})
				if call == n {
					require.ErrorIs(t, err, errInjected)
					require.Nil(t, moved)
					continue
				}
				require.NoError(t, err)
				require.EqualValues(t, call, resource.count.Load(), "one allocation for everything")
				held = append(held, moved...)
			}
			for _, c := range held {
				require.NoError(t, c.Release())
			}
			require.Zero(t, mgr.Stats().InUse)
			require.Zero(t, mgr.Stats().Blocks)
		}
	})
}

func TestBudgetIsKept(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{Budget: 1000})
	_, err := column.FromArray(t.Context(), mgr, arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int64, 200), column.UploadOptions{})
	require.ErrorIs(t, err, memory.ErrBudget)
	require.Zero(t, mgr.Stats().Blocks)
}

func TestCancelledTransfersHoldNothing(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		a := arraytest.NewGenerator(1).Array(arrow.ListOf(arrow.BinaryTypes.String), 1000)
		c, err := column.FromArray(ctx, mgr, a, column.UploadOptions{})
		require.NoError(t, err)
		cancel(errInjected)
		_, err = column.FromArray(ctx, mgr, a, column.UploadOptions{})
		require.ErrorIs(t, err, errInjected)
		checked := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
		_, err = column.ToArrays(ctx, []*column.Column{c}, column.DownloadOptions{Allocator: checked})
		require.ErrorIs(t, err, errInjected)
		checked.AssertSize(t, 0)
		require.NoError(t, c.Release())
		require.Zero(t, mgr.Stats().Blocks)
	})
}

// After the upload the host may write to the array and free it.
func TestArraysMayBeReleasedAfterUpload(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		checked := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
		b := array.NewInt64Builder(checked)
		for i := range int64(1 << 18) {
			b.Append(i)
		}
		a := b.NewInt64Array()
		b.Release()
		c, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{Stream: stream, Tag: "ticks"})
		require.NoError(t, err)
		clear(a.Int64Values())
		a.Release()
		checked.AssertSize(t, 0)
		assert.Same(t, stream, c.Block().Stream())
		assert.Equal(t, "ticks", c.Block().Tag())

		arrays, err := column.ToArrays(t.Context(), []*column.Column{c}, column.DownloadOptions{Allocator: checked})
		require.NoError(t, err)
		for i, value := range arrays[0].(*array.Int64).Int64Values() {
			require.EqualValues(t, i, value)
		}
		arrays[0].Release()
		checked.AssertSize(t, 0)
		require.NoError(t, c.Release())
		require.NoError(t, stream.Close())
	})
}

func TestDictionariesDoNotStayRetained(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	checked := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
	defer checked.AssertSize(t, 0)
	var chunks []arrow.Array
	for i := range 3 {
		b := array.NewDictionaryBuilder(checked, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
		for k := range 10 {
			require.NoError(t, b.AppendString(fmt.Sprint(k%(i+2))))
			b.AppendNull()
		}
		chunks = append(chunks, b.NewArray())
		b.Release()
	}
	c, back := travel(t, mgr, chunks)
	requireChunks(t, chunks, back)
	assert.Equal(t, 4, c.Dictionary().Len(), "each value once")
	back.Release()
	require.NoError(t, c.Release())
	// Chunks of one dictionary share it unchanged.
	c, back = travel(t, mgr, []arrow.Array{chunks[0], chunks[0]})
	assert.Equal(t, 2, c.Dictionary().Len())
	back.Release()
	require.NoError(t, c.Release())
	for _, chunk := range chunks {
		chunk.Release()
	}
}

// The values of dictionaries of floats keep their bits, also those that compare as equal.
func TestDictionariesKeepBits(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	quiet, other := math.Float64bits(math.NaN()), math.Float64bits(math.NaN())^2
	chunksOf := [][]uint64{{0, quiet}, {1 << 63, quiet}, {quiet, other, 0, 1 << 63}}
	for _, chosen := range [][]int{{0, 1}, {0, 2}, {2, 1}} {
		var chunks []arrow.Array
		var want []uint64
		for _, i := range chosen {
			values, codes := array.NewFloat64Builder(arrowmemory.DefaultAllocator), array.NewInt8Builder(arrowmemory.DefaultAllocator)
			for k, bits := range chunksOf[i] {
				values.Append(math.Float64frombits(bits))
				codes.Append(int8(k))
			}
			want = append(want, chunksOf[i]...)
			of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Float64}
			chunks = append(chunks, array.NewDictionaryArray(of, codes.NewArray(), values.NewArray()))
		}
		c, back := travel(t, mgr, chunks)
		encoded := back.(*array.Dictionary)
		for row, bits := range want {
			value := encoded.Dictionary().(*array.Float64).Value(encoded.GetValueIndex(row))
			require.Equal(t, bits, math.Float64bits(value), "row %d", row)
		}
		back.Release()
		require.NoError(t, c.Release())
	}
}

func TestColumnsOfTwoDevicesDoNotMix(t *testing.T) {
	cuda, host := devicetest.Open(t, "cuda:0"), devicetest.Open(t, "host")
	var columns []*column.Column
	for _, dev := range []*device.Device{cuda, host} {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		columns = append(columns, sliced(t, mgr, arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, 5), 0, 5))
	}
	_, err := column.ToArrays(t.Context(), columns, column.DownloadOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	field := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}
	field2 := arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32}
	_, err = column.New(column.Data{Type: arrow.StructOf(field, field2), Length: 5, Buffers: make([]column.Bytes, 1), Children: columns})
	require.ErrorIs(t, err, column.ErrInvalid)
}

func TestManyGoroutines(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		generate := func() arrow.Array {
			return arraytest.NewGenerator(1).Array(arrow.ListOf(arrow.BinaryTypes.String), 500)
		}
		a := generate()
		whole, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
		require.NoError(t, err)
		var group errgroup.Group
		for worker := range 8 {
			group.Go(func() error {
				// An upload only reads the array, but a comparison stores its null
				// count, so each goroutine compares a separate array.
				same := generate()
				for i := range 20 {
					mine, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
					if err != nil {
						return err
					}
					from := (worker*20 + i) % 100
					slice, err := whole.Slice(from, 300)
					if err != nil {
						return err
					}
					arrays, err := column.ToArrays(t.Context(), []*column.Column{mine, slice}, column.DownloadOptions{})
					if err != nil {
						return err
					}
					want := array.NewSlice(same, int64(from), int64(from+300))
					if !array.Equal(same, arrays[0]) || !array.Equal(want, arrays[1]) {
						return errors.New("the arrays differ")
					}
					if err := errors.Join(mine.Release(), slice.Release()); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
		require.NoError(t, whole.Release())
		assert.Zero(t, mgr.Stats().Blocks)
	})
}
