package spill_test

import (
	"context"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// requireCopied copies the first column on the stream and requires a record's
// values.
func requireCopied(t testing.TB, stream *device.Stream, table *buffer.Buffer, pinned unsafe.Pointer, want arrow.Record) {
	t.Helper()
	values, err := column.Elements[int64](table.Column(0))
	require.NoError(t, err)
	require.NoError(t, stream.Enqueue(func(handle backend.Stream) error {
		return stream.Device().Driver().CopyToHostAsync(pinned, values.Pointer(), values.Bytes(), handle)
	}))
	require.NoError(t, values.Block().RecordUse(stream))
	require.NoError(t, stream.Synchronize(t.Context()))
	first := want.Column(0).Data().Buffers()[1].Bytes()
	require.Equal(t, first, unsafe.Slice((*byte)(pinned), values.Bytes()))
}

func TestAcquiredTablesStay(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, s := onDevice(t, dev, 3, spill.Options{})
		table := add(t, mgr, s, numbers(tableRows, 1))
		first, second := acquire(t, table), acquire(t, table)
		address := first.Column(0).Pointer()
		for _, held := range []*buffer.Buffer{first, second} {
			require.Zero(t, press(t, s))
			require.False(t, table.Spilled())
			require.Equal(t, address, second.Column(0).Pointer())
			require.NoError(t, held.Release())
			require.ErrorIs(t, held.Release(), memory.ErrReleased, "each buffer is released separately")
		}
		require.EqualValues(t, tableBytes, press(t, s))
		assert.EqualValues(t, 2, s.Stats().Refusals.Pinned)
	})
}

func TestRetainedTablesStay(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, spill.Options{})
		want := numbers(tableRows, 1)
		for name, retain := range map[string]func(*buffer.Buffer) (interface{ Release() error }, error){
			"a buffer": func(b *buffer.Buffer) (interface{ Release() error }, error) { return b, b.Retain() },
			"a view":   func(b *buffer.Buffer) (interface{ Release() error }, error) { return b.Select("number") },
			"a slice":  func(b *buffer.Buffer) (interface{ Release() error }, error) { return b.Slice(3, 4) },
			"a column": func(b *buffer.Buffer) (interface{ Release() error }, error) { return b.Column(0), b.Column(0).Retain() },
			"a block": func(b *buffer.Buffer) (interface{ Release() error }, error) {
				return b.Column(0).Block(), b.Column(0).Block().Retain()
			},
			"another":   func(b *buffer.Buffer) (interface{ Release() error }, error) { return addSlice(s, b) },
			"the first": nil,
		} {
			loaded, err := buffer.FromRecord(mgr, want)
			require.NoError(t, err)
			var table *spill.Table
			var holder interface{ Release() error }
			before := s.Stats().Refusals
			if retain == nil { // the caller of Add still holds the table
				require.NoError(t, loaded.Retain())
				holder = loaded
				table, err = s.Add(loaded)
			} else {
				table, err = s.Add(loaded)
				require.NoError(t, err)
				held := acquire(t, table)
				holder, err = retain(held)
				require.NoError(t, err)
				require.NoError(t, held.Release())
			}
			require.NoError(t, err)
			require.Zero(t, press(t, s), name)
			require.False(t, table.Spilled(), name)
			after := s.Stats().Refusals
			assert.NotEqual(t, before, after)
			if name != "a buffer" { // that buffer is the acquired one
				assert.Equal(t, before.Pinned, after.Pinned, name)
				assert.Less(t, before.Retained, after.Retained, name)
			}
			require.NoError(t, holder.Release())
			require.EqualValues(t, tableBytes, press(t, s), name)
			requireTable(t, want, table)
			require.NoError(t, table.Release())
		}
	})
}

func addSlice(s *spill.Spiller, b *buffer.Buffer) (*spill.Table, error) {
	part, err := b.Slice(0, 5)
	if err != nil {
		return nil, err
	}
	return s.Add(part)
}

func TestForeignMemoryStays(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, spill.Options{})
		pointer, err := dev.Driver().Alloc(tableBytes)
		require.NoError(t, err)
		block, err := mgr.Adopt(memory.ForeignMemory{
			Pointer: pointer, Bytes: tableBytes, Kind: kindOf(dev), Origin: memory.Foreign, Ordered: true,
			Release: func() error { return dev.Driver().Free(pointer) },
		})
		require.NoError(t, err)
		values, err := memory.View[uint8](block, 0, tableBytes)
		require.NoError(t, err)
		c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: tableRows, Buffers: []column.Bytes{{}, values}})
		require.NoError(t, err)
		schema := arrow.NewSchema([]arrow.Field{{Name: "number", Type: arrow.PrimitiveTypes.Int64}}, nil)
		adopted, err := buffer.New(schema, []*column.Column{c}, buffer.Rows{Count: tableRows})
		require.NoError(t, err)
		require.NoError(t, c.Release())
		require.NoError(t, block.Release())
		table, err := s.Add(adopted)
		require.NoError(t, err)
		require.Zero(t, press(t, s))
		assert.EqualValues(t, 1, s.Stats().Refusals.External)
		require.NoError(t, table.Release())
	})
}

func kindOf(dev *device.Device) device.MemoryKind {
	if dev.Kind() == device.Host {
		return device.MemoryHost
	}
	return device.MemoryDevice
}

func TestBusyTablesAreSkipped(t *testing.T) {
	mgr, s, _ := onFake(t, 3, spill.Options{SkipBusy: true})
	idle, busy := add(t, mgr, s, numbers(tableRows, 1)), add(t, mgr, s, numbers(tableRows, 2))
	stream, err := mgr.Device().NewStream()
	require.NoError(t, err)
	held := acquire(t, busy)
	block := held.Column(0).Block()
	require.NoError(t, block.RecordUse(stream)) // its driver never reports that it is idle
	require.NoError(t, held.Release())

	require.EqualValues(t, tableBytes, press(t, s))
	require.Equal(t, []bool{true, false}, spilled([]*spill.Table{idle, busy}))
	assert.EqualValues(t, 1, s.Stats().Refusals.Busy)
	require.NoError(t, block.Synchronize(t.Context()))
	require.EqualValues(t, tableBytes, press(t, s))
	require.True(t, busy.Spilled())
	require.NoError(t, stream.Close())
}

// Reclaim waits for busy tables when no others are left, and moves them after their
// work is done.
func TestBusyTablesAreSpilledLast(t *testing.T) {
	mgr, s, f := onFake(t, 3, spill.Options{})
	busy, idle := add(t, mgr, s, numbers(tableRows, 1)), add(t, mgr, s, numbers(tableRows, 2))
	stream, err := mgr.Device().NewStream()
	require.NoError(t, err)
	held := acquire(t, busy)
	require.NoError(t, held.Column(0).Block().RecordUse(stream))
	require.NoError(t, held.Release())
	require.NoError(t, idle.Use(t.Context(), func(*buffer.Buffer) error { return nil }))

	released, err := s.Reclaim(t.Context(), 1)
	require.NoError(t, err)
	require.EqualValues(t, tableBytes, released)
	require.Equal(t, []bool{false, true}, spilled([]*spill.Table{busy, idle}), "although the other was touched later")

	ctx, cancel := context.WithCancelCause(t.Context())
	f.held.Store(true)
	queries := 0
	f.onQuery = func() {
		assert.False(t, busy.Spilled())
		if queries++; queries == 5 {
			cancel(errInjected)
		}
	}
	released, err = s.Reclaim(ctx, 1)
	require.ErrorIs(t, err, errInjected)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, released)
	require.False(t, busy.Spilled())
	f.onQuery = nil
	f.held.Store(false)
	require.EqualValues(t, tableBytes, press(t, s))
	require.True(t, busy.Spilled())
	require.Zero(t, s.Stats().Refusals)
	require.NoError(t, stream.Close())
}

// Work that was enqueued before a table moves is in the restored table, even if it
// was not recorded because it is on the block's own stream.
func TestEarlierWorkIsNotLost(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, spill.Options{})
		further, err := dev.NewStream()
		require.NoError(t, err)
		const rows = 1 << 19
		table := add(t, mgr, s, numbers(rows, 1))
		for round := range uint32(6) {
			held := acquire(t, table)
			values, err := column.Elements[int64](held.Column(0))
			require.NoError(t, err)
			stream := values.Block().Stream()
			if round%2 == 1 {
				stream = further
			}
			for repeat := range uint32(8) {
				require.NoError(t, stream.Enqueue(func(handle backend.Stream) error {
					return dev.Driver().MemsetAsync(values.Pointer(), round+repeat, 1, values.Bytes(), handle)
				}))
			}
			if stream == further {
				require.NoError(t, values.Block().RecordUse(stream))
			}
			require.NoError(t, held.Release())
			require.EqualValues(t, 8*rows, press(t, s))
			back, err := table.Record(t.Context())
			require.NoError(t, err)
			for i, value := range back.Column(0).Data().Buffers()[1].Bytes() {
				if value != byte(round+7) {
					require.Equal(t, byte(round+7), value, "round %d, byte %d", round, i)
				}
			}
			back.Release()
		}
		require.NoError(t, further.Close())
	})
}
