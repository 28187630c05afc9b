package share_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// The table is the same at the client, whether it was copied or shared in place.
func TestOpen(t *testing.T) {
	onDevices(t, func(t *testing.T, plain, shareable *memory.Manager) {
		server := listen(t, share.ServerOptions{})
		want := record(t, 1000)
		publish(t, server, "copied", upload(t, plain, want))
		before := shareable.Stats().Allocations
		publish(t, server, "in place", upload(t, shareable, want))
		require.Equal(t, before+1, shareable.Stats().Allocations, "the table itself and no copy")
		publish(t, server, "copied on demand", upload(t, shareable, want), share.PublishOptions{Copy: true})

		client, user := dial(t, server), devicetest.Manager(t, plain.Device(), memory.Options{})
		infos, err := client.Tables(t.Context())
		require.NoError(t, err)
		require.Len(t, infos, 3)
		for _, info := range infos {
			assert.EqualValues(t, 1000, info.Rows)
			assert.Equal(t, schema().NumFields(), info.Columns)
			assert.Equal(t, share.IDOf(plain.Device()), info.Device)
			name, err := info.Device.Name()
			require.NoError(t, err)
			named, err := device.Open(name)
			require.NoError(t, err)
			assert.True(t, named.Same(plain.Device()))
			require.NoError(t, named.Close())

			table, err := client.Open(t.Context(), user, info.Name)
			require.NoError(t, err)
			requireRecord(t, want, table)
			value, ok := table.Schema().Metadata().GetValue("made by")
			assert.True(t, ok && value == "a test")
			assert.Equal(t, info.Bytes, user.Stats().External)
			for i := range table.NumColumns() {
				for block := range table.Column(i).Blocks {
					assert.True(t, block.ReadOnly())
					assert.Equal(t, memory.OtherProcess, block.Origin())
				}
			}
			require.NoError(t, table.Release())
			require.Zero(t, user.Stats().External)
		}
		stats := waitFor(t, server, func(s share.Stats) bool {
			return s.Tables[0].References+s.Tables[1].References+s.Tables[2].References == 0
		})
		assert.EqualValues(t, 3, stats.Opens)
		assert.Contains(t, stats.String(), "0 references of 1 clients, opened 3 times")
	})
}

// Writes of the owner to a table that is shared in place are visible to the client, so
// both map the same memory.
func TestMemoryIsShared(t *testing.T) {
	onDevices(t, func(t *testing.T, _, shareable *memory.Manager) {
		server := listen(t, share.ServerOptions{})
		slice, err := memory.NewSlice[int64](shareable, 100, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 1))
		numbers, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: 100, Buffers: []column.Bytes{{}, slice.AsBytes()}})
		require.NoError(t, err)
		table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil), []*column.Column{numbers}, buffer.Rows{Count: 100})
		require.NoError(t, err)
		require.NoError(t, numbers.Release())
		publish(t, server, "numbers", table)
		require.NoError(t, table.Release())

		opened, err := dial(t, server).Open(t.Context(), devicetest.Manager(t, shareable.Device(), memory.Options{}), "numbers")
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 2))
		require.NoError(t, slice.Block().Synchronize(t.Context()))
		got, err := opened.Record(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 2, got.Column(0).(*array.Int64).Value(99))
		got.Release()
		require.NoError(t, opened.Release())
		require.NoError(t, slice.Release())
	})
}

// Rows that only the device can count, views and empty tables.
func TestShapes(t *testing.T) {
	onDevices(t, func(t *testing.T, plain, shareable *memory.Manager) {
		want := record(t, 300)
		for _, mgr := range []*memory.Manager{plain, shareable} {
			server := listen(t, share.ServerOptions{})
			whole := upload(t, mgr, want)
			part, err := whole.Slice(10, 100)
			require.NoError(t, err)
			two, err := whole.Select("text", "word")
			require.NoError(t, err)
			rows, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, rows.Fill(nil, 42))
			var columns []*column.Column
			for i := range whole.NumColumns() {
				columns = append(columns, whole.Column(i))
			}
			counted, err := buffer.New(whole.Schema(), columns, buffer.Rows{Device: rows})
			require.NoError(t, err)
			require.NoError(t, rows.Release())
			none, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: 7})
			require.NoError(t, err)
			empty := upload(t, mgr, record(t, 0))

			client, user := dial(t, server), devicetest.Manager(t, plain.Device(), memory.Options{})
			for name, test := range map[string]struct {
				table *buffer.Buffer
				rows  int64
			}{"part": {part, 100}, "two": {two, 300}, "counted": {counted, 42}, "none": {none, 7}, "empty": {empty, 0}} {
				publish(t, server, name, test.table)
				opened, err := client.Open(t.Context(), user, name)
				require.NoError(t, err, name)
				require.Equal(t, test.rows, opened.Capacity(), name)
				expected, err := test.table.Record(t.Context())
				require.NoError(t, err)
				requireRecord(t, expected, opened)
				expected.Release()
				require.NoError(t, opened.Release())
			}
			for _, table := range []*buffer.Buffer{part, two, counted, none} {
				require.NoError(t, table.Release())
			}
			require.NoError(t, client.Close())
			require.NoError(t, server.Close())
		}
	})
}

// A table's columns are mapped on first use, and once however often the table is open.
func TestOpenTable(t *testing.T) {
	onDevices(t, func(t *testing.T, plain, _ *memory.Manager) {
		server := listen(t, share.ServerOptions{})
		want := record(t, 500)
		publish(t, server, "t", upload(t, plain, want))
		client, user := dial(t, server), devicetest.Manager(t, plain.Device(), memory.Options{})
		table, err := client.OpenTable(t.Context(), user, "t")
		require.NoError(t, err)
		assert.Equal(t, "t", table.Name())
		assert.EqualValues(t, 500, table.NumRows())
		assert.Equal(t, share.IDOf(plain.Device()), table.Device())
		assert.NotZero(t, table.Bytes())
		require.Zero(t, user.Stats().ExternalBlocks, "nothing is mapped yet")

		text, err := table.ColumnByName(t.Context(), "text")
		require.NoError(t, err)
		require.EqualValues(t, 1, user.Stats().ExternalBlocks)
		again, err := client.OpenTable(t.Context(), user, "t")
		require.NoError(t, err)
		same, err := again.ColumnByName(t.Context(), "text")
		require.NoError(t, err)
		assert.Equal(t, text.Buffer(1).Pointer(), same.Buffer(1).Pointer(), "mapped once")
		waitFor(t, server, referencesOf("t", 2))
		require.NoError(t, same.Release())
		require.NoError(t, again.Close())
		waitFor(t, server, referencesOf("t", 1))

		whole, err := table.Buffer(t.Context())
		require.NoError(t, err)
		require.NoError(t, table.Close())
		requireRecord(t, want, whole)
		require.NoError(t, whole.Release())
		assert.Equal(t, 500, text.Len())
		waitFor(t, server, referencesOf("t", 1))
		require.NoError(t, text.Release(), "the last thing that was made of it")
		waitFor(t, server, referencesOf("t", 0))

		_, err = table.Column(t.Context(), 0)
		require.ErrorIs(t, err, share.ErrClosed)
		_, err = table.Buffer(t.Context())
		require.ErrorIs(t, err, share.ErrClosed)
		require.ErrorIs(t, table.Close(), share.ErrClosed)
	})
}

func TestErrors(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	server := listen(t, share.ServerOptions{Manager: mgr})
	table := upload(t, mgr, record(t, 3))
	err := server.Publish(t.Context(), "t", table)
	if errors.Is(err, device.ErrNotSupported) {
		t.Skip(err)
	}
	require.ErrorIs(t, err, device.ErrInvalidValue, "the manager's memory cannot be shared")
	require.Zero(t, mgr.Stats().InUse-table.Bytes())
	require.NoError(t, server.Close())

	server = listen(t, share.ServerOptions{})
	publish(t, server, "t", table)
	require.ErrorIs(t, server.Publish(t.Context(), "t", table), share.ErrExists)
	for _, name := range []string{"", "a\nb", "\xff", string(make([]byte, 300))} {
		require.ErrorIs(t, server.Publish(t.Context(), name, table), share.ErrName)
		_, err := dial(t, server).Open(t.Context(), mgr, name)
		require.ErrorIs(t, err, share.ErrName)
	}
	require.ErrorIs(t, server.Publish(t.Context(), "nil", nil), memory.ErrReleased)
	require.ErrorIs(t, server.Withdraw("other"), share.ErrNotFound)
	client := dial(t, server)
	_, err = client.Open(t.Context(), mgr, "other")
	require.ErrorIs(t, err, share.ErrNotFound)
	require.ErrorContains(t, err, `share: open "other": the server answers`)
	opened, err := client.OpenTable(t.Context(), mgr, "t")
	require.NoError(t, err)
	_, err = opened.Column(t.Context(), -1)
	require.ErrorIs(t, err, buffer.ErrSchema)
	_, err = opened.ColumnByName(t.Context(), "none")
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.NoError(t, opened.Close())

	require.NoError(t, server.Close())
	<-client.Done()
	_, err = client.Tables(t.Context())
	require.ErrorIs(t, err, share.ErrDisconnected)
	require.ErrorIs(t, server.Close(), share.ErrClosed)
	require.ErrorIs(t, server.Publish(t.Context(), "u", table), share.ErrClosed)
	require.ErrorIs(t, server.Withdraw("t"), share.ErrClosed)
	require.NoError(t, client.Close())
	require.ErrorIs(t, client.Close(), share.ErrClosed)
	_, err = client.Open(t.Context(), mgr, "t")
	require.ErrorIs(t, err, share.ErrDisconnected)
	_, err = share.DialContext(t.Context(), server.Path())
	require.Error(t, err)
}
