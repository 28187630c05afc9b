package buffer_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestRecordRoundTrip(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, rows := range []int{0, 1, 64, 1000} {
			record := flights(t, rows)
			before := mgr.Stats().Allocations
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			require.EqualValues(t, before+1, mgr.Stats().Allocations, "one allocation for all columns")
			requireRecord(t, record, table)

			assert.Equal(t, record.Schema(), table.Schema())
			assert.Equal(t, 6, table.NumColumns())
			assert.EqualValues(t, rows, table.Capacity())
			known, ok := table.HostRows()
			assert.True(t, ok)
			assert.EqualValues(t, rows, known)
			count, err := table.NumRows(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, rows, count)
			assert.Nil(t, table.DeviceRows().Block())
			assert.Equal(t, mgr.Stats().InUse, table.Bytes(), "the block counts once")
			assert.True(t, dev.Same(table.Device()))
			assert.Nil(t, table.Column(-1))
			assert.Nil(t, table.Column(6))

			require.NoError(t, table.Release())
			requireEmpty(t, mgr)
		}
	})
}

func TestColumnByName(t *testing.T) {
	table := upload(t, hostManager(t), flights(t, 10))
	c, err := table.ColumnByName("origin")
	require.NoError(t, err)
	assert.Same(t, table.Column(1), c)
	c, err = table.ColumnByName("Origin")
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.ErrorContains(t, err, `"Origin"`)
	assert.Nil(t, c)
}

func TestRecordsBecomeOneTable(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 100)
		for _, lengths := range [][]int64{{100}, {13, 87}, {0, 50, 0, 1, 49, 0}, {64, 36}} {
			before := mgr.Stats().Allocations
			table, err := buffer.FromRecords(t.Context(), mgr, batches(t, whole, lengths...), buffer.LoadOptions{Tag: "flights"})
			require.NoError(t, err)
			require.EqualValues(t, before+1, mgr.Stats().Allocations, "one allocation for all batches")
			assert.Equal(t, "flights", table.Column(0).Block().Tag())
			requireRecord(t, whole, table)
			require.NoError(t, table.Release())
			requireEmpty(t, mgr)
		}
	})
}

func TestTableWithoutColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table, err := buffer.FromRecords(t.Context(), mgr, []arrow.Record{emptyOf(3), emptyOf(4)}, buffer.LoadOptions{})
		require.NoError(t, err)
		requireRecord(t, emptyOf(7), table)
		assert.EqualValues(t, 7, table.Capacity())
		assert.Same(t, dev, table.Device())
		assert.Same(t, mgr, table.Manager())
		assert.Zero(t, table.Bytes())
		assert.Zero(t, mgr.Stats().Allocations)

		part, err := table.Slice(2, 4)
		require.NoError(t, err)
		requireRecord(t, emptyOf(4), part)
		require.NoError(t, part.Release())
		require.NoError(t, table.Release())
	})
}

func TestRecordInTheUsersMemory(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		record := flights(t, 500)
		table := upload(t, mgr, record)
		checked := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
		back, err := table.RecordWith(t.Context(), column.DownloadOptions{Stream: stream, Allocator: checked})
		require.NoError(t, err)
		assert.Positive(t, checked.CurrentAlloc())
		requireSame(t, record, back)
		back.Release()
		checked.AssertSize(t, 0)
		require.NoError(t, stream.Close())
	})
}

// A load on the caller's stream is ordered with that stream only: work that is
// enqueued next on it must find the data.
func TestStreamOfALoadFindsTheData(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		const rows = 1 << 18
		builder := array.NewInt64Builder(arrowmemory.DefaultAllocator)
		for i := range int64(rows) {
			builder.Append(i * i)
		}
		values := builder.NewInt64Array()
		schema := arrow.NewSchema([]arrow.Field{{Name: "square", Type: arrow.PrimitiveTypes.Int64}}, nil)
		record := array.NewRecord(schema, []arrow.Array{values}, rows)
		table, err := buffer.FromRecords(t.Context(), mgr, []arrow.Record{record}, buffer.LoadOptions{Stream: stream})
		require.NoError(t, err)
		clear(values.Int64Values()) // the memory may be reused now
		squares, err := column.Elements[int64](table.Column(0))
		require.NoError(t, err)
		assert.Same(t, stream, squares.Block().Stream())

		pinned, err := dev.Driver().HostAlloc(squares.Bytes())
		require.NoError(t, err)
		require.NoError(t, stream.Enqueue(func(handle backend.Stream) error {
			return dev.Driver().CopyToHostAsync(pinned, squares.Pointer(), squares.Bytes(), handle)
		}))
		require.NoError(t, stream.Synchronize(t.Context()))
		for i, value := range unsafe.Slice((*int64)(pinned), rows) {
			if value != int64(i)*int64(i) {
				require.EqualValues(t, i*i, value, "element %d", i)
			}
		}
		require.NoError(t, dev.Driver().HostFree(pinned))
		require.NoError(t, table.Release())
		requireEmpty(t, mgr)
		require.NoError(t, stream.Close())
	})
}
