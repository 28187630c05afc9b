package spill_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestRestoredTablesAreUnchanged(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, spill.Options{})
		whole := manyTypes(t, 100)
		for _, from := range []int64{0, 5, 64} {
			loaded, err := buffer.FromRecords(t.Context(), mgr, []arrow.Record{whole}, buffer.LoadOptions{Tag: "tables"})
			require.NoError(t, err)
			part, err := loaded.Slice(from, 100-from)
			require.NoError(t, err)
			require.NoError(t, loaded.Release())
			table, err := s.Add(part)
			require.NoError(t, err)
			want := whole.NewSlice(from, 100)
			bytes := mgr.Stats().InUse
			assert.Equal(t, bytes, table.Bytes())
			assert.True(t, whole.Schema().Equal(table.Schema()))
			requireTable(t, want, table)

			for range 2 {
				require.Equal(t, bytes, press(t, s))
				require.True(t, table.Spilled())
				require.Zero(t, mgr.Stats().InUse)
				stats := s.Stats()
				require.Equal(t, bytes, stats.HostBytes)
				require.Equal(t, 1, stats.Spilled)
				requireTable(t, want, table)

				held := acquire(t, table)
				requireBuffer(t, want, held)
				require.Equal(t, bytes, mgr.Stats().InUse)
				require.Equal(t, "tables", held.Column(1).Buffer(1).Block().Tag())
				require.Zero(t, s.Stats().HostBytes)
				require.NoError(t, held.Release())
			}
			require.NoError(t, table.Release())
			require.Zero(t, mgr.Stats().Blocks)
			want.Release()
		}
		stats := s.Stats()
		assert.EqualValues(t, 6, stats.Spills)
		assert.EqualValues(t, 6, stats.Restores)
		assert.Equal(t, stats.SpilledBytes, stats.RestoredBytes)
		assert.Positive(t, stats.SpillTime)
		assert.Positive(t, stats.RestoreTime)
		assert.Zero(t, stats.Tables)
		assert.Zero(t, stats.Spilled)
		assert.Contains(t, stats.String(), "6 spills")
	})
}

// The table has several blocks, two of its columns in one and the row count in
// another.
func TestBlocksMoveOnce(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, spill.Options{})
		one, err := buffer.FromRecord(mgr, numbers(tableRows, 1))
		require.NoError(t, err)
		other, err := buffer.FromRecord(mgr, numbers(tableRows, 2))
		require.NoError(t, err)
		count, err := memory.NewSlice[int64](mgr, 3, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, count.Upload(t.Context(), nil, []int64{7, 500, 7}))
		middle, err := count.Slice(1, 2)
		require.NoError(t, err)

		columns := []*column.Column{one.Column(0), other.Column(0), one.Column(0)}
		fields := make([]arrow.Field, len(columns))
		for i := range fields {
			fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: arrow.PrimitiveTypes.Int64}
		}
		joined, err := buffer.New(arrow.NewSchema(fields, nil), columns, buffer.Rows{Device: middle})
		require.NoError(t, err)
		for _, held := range []interface{ Release() error }{one, other, count} {
			require.NoError(t, held.Release())
		}
		table, err := s.Add(joined)
		require.NoError(t, err)
		require.EqualValues(t, 2*tableBytes+24, press(t, s))
		require.EqualValues(t, 2*tableBytes+24, s.Stats().HostBytes)
		require.Zero(t, mgr.Stats().Blocks)

		held := acquire(t, table)
		require.EqualValues(t, 3, mgr.Stats().Blocks)
		require.Same(t, held.RowCount(), held.Column(0).RowCount(), "the columns carry the table's count again")
		_, known := held.HostRows()
		require.False(t, known)
		rows, err := held.NumRows(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 500, rows)
		back, err := held.Record(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 500, back.NumRows())
		first, second := numbers(500, 1), numbers(500, 2)
		require.True(t, array.Equal(first.Column(0), back.Column(0)))
		require.True(t, array.Equal(second.Column(0), back.Column(1)))
		require.True(t, array.Equal(first.Column(0), back.Column(2)))
		back.Release()
		require.NoError(t, held.Release())

		press(t, s)
		held = acquire(t, table)
		rows, known = held.HostRows()
		require.True(t, known, "it was fetched once")
		require.EqualValues(t, 500, rows)
		require.NoError(t, held.Release())
		require.NoError(t, table.Release())
	})
}

func TestTableWithoutMemory(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	s := newSpiller(t, mgr, spill.Options{})
	empty := array.NewRecord(arrow.NewSchema(nil, nil), nil, 12)
	table := add(t, mgr, s, empty)
	require.Zero(t, press(t, s))
	require.False(t, table.Spilled(), "a table without memory does not move")
	requireTable(t, empty, table)
}

// Work on the stream finds the data without a wait.
func TestAcquireOnAStream(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, spill.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		const rows = 1 << 18
		want := numbers(rows, 5)
		table := add(t, mgr, s, want)
		pinned, err := dev.Driver().HostAlloc(8 * rows)
		require.NoError(t, err)
		for range 5 {
			require.EqualValues(t, 8*rows, press(t, s))
			held, err := table.AcquireOn(t.Context(), stream)
			require.NoError(t, err)
			requireCopied(t, stream, held, pinned, want)
			require.NoError(t, held.Release())
		}
		again, err := table.AcquireOn(t.Context(), stream)
		require.NoError(t, err)
		require.NoError(t, again.Release())
		requireTable(t, want, table)
		_, err = table.AcquireOn(t.Context(), nil)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.NoError(t, dev.Driver().HostFree(pinned))
		require.NoError(t, stream.Close())
	})
}

// A table returns to the stream that it was loaded on, unless that was closed
// meanwhile.
func TestHomeStream(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := newSpiller(t, mgr, spill.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		want := numbers(tableRows, 3)
		loaded, err := buffer.FromRecords(t.Context(), mgr, []arrow.Record{want}, buffer.LoadOptions{Stream: stream})
		require.NoError(t, err)
		table, err := s.Add(loaded)
		require.NoError(t, err)
		for _, home := range []*device.Stream{stream, mgr.Stream()} {
			require.EqualValues(t, tableBytes, press(t, s))
			held := acquire(t, table)
			require.Same(t, home, held.Column(0).Block().Stream())
			requireBuffer(t, want, held)
			require.NoError(t, held.Release())
			if home == stream {
				require.NoError(t, stream.Close())
			}
		}
		require.NoError(t, table.Release())
	})
}

func TestUse(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	s := newSpiller(t, mgr, spill.Options{})
	want := numbers(tableRows, 9)
	table := add(t, mgr, s, want)
	press(t, s)
	err := table.Use(t.Context(), func(held *buffer.Buffer) error {
		requireBuffer(t, want, held)
		require.Zero(t, press(t, s), "it is held")
		return errInjected
	})
	require.ErrorIs(t, err, errInjected)
	require.EqualValues(t, tableBytes, press(t, s))
	err = table.Use(t.Context(), func(held *buffer.Buffer) error { return held.Release() })
	require.ErrorIs(t, err, memory.ErrReleased, "it was released by f")
}
