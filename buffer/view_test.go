package buffer_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/endian"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestViewsShareTheMemory(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		record := flights(t, 50)
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		block, before := table.Column(0).Block(), mgr.Stats()

		selected, err := table.Select("distance", "origin")
		require.NoError(t, err)
		part, err := table.Slice(13, 20)
		require.NoError(t, err)
		deeper, err := part.Slice(3, 7)
		require.NoError(t, err)
		field := arrow.Field{Name: "again", Type: arrow.PrimitiveTypes.Float64, Metadata: arrow.NewMetadata([]string{"a"}, []string{"b"})}
		longer, err := table.AppendColumn(field, table.Column(5))
		require.NoError(t, err)
		views := []*buffer.Buffer{selected, part, deeper, longer}
		for _, view := range views {
			for _, c := range columnsOf(view) {
				for each := range c.Blocks {
					assert.Same(t, block, each)
				}
			}
			assert.Equal(t, table.Bytes(), view.Bytes())
		}
		assert.Equal(t, before.InUse, mgr.Stats().InUse)
		assert.Equal(t, before.Allocations, mgr.Stats().Allocations)

		require.NoError(t, table.Release())
		metadata := record.Schema().Metadata()
		want := array.NewRecord(
			arrow.NewSchema([]arrow.Field{record.Schema().Field(5), record.Schema().Field(1)}, &metadata),
			[]arrow.Array{record.Column(5), record.Column(1)}, 50)
		requireRecord(t, want, selected)
		want.Release()
		want = record.NewSlice(13, 33)
		requireRecord(t, want, part)
		want.Release()
		want = record.NewSlice(16, 23)
		requireRecord(t, want, deeper)
		want.Release()
		want = array.NewRecord(
			arrow.NewSchema(append(record.Schema().Fields(), field), &metadata),
			append(record.Columns(), record.Column(5)), 50)
		requireRecord(t, want, longer)
		want.Release()

		for _, view := range views {
			require.NoError(t, view.Release())
		}
		requireEmpty(t, mgr)
	})
}

func TestViewsDoNotChangeTheTable(t *testing.T) {
	mgr := hostManager(t)
	record := flights(t, 10)
	table := upload(t, mgr, record)
	for _, names := range [][]string{{}, {"delay"}, {"delay", "delay"}} {
		selected, err := table.Select(names...)
		require.NoError(t, err)
		assert.Equal(t, len(names), selected.NumColumns())
		assert.EqualValues(t, 10, selected.Capacity())
		longer, err := selected.AppendColumn(record.Schema().Field(5), table.Column(5))
		require.NoError(t, err)
		assert.Equal(t, len(names)+1, longer.NumColumns())
		assert.Equal(t, len(names), selected.NumColumns())
		require.NoError(t, longer.Release())
		require.NoError(t, selected.Release())
	}
	requireRecord(t, record, table)
}

func TestViewsKeepTheEndianness(t *testing.T) {
	mgr := hostManager(t)
	table := upload(t, mgr, flights(t, 10))
	foreign, err := buffer.New(table.Schema().WithEndianness(endian.NonNativeEndian), columnsOf(table), buffer.Rows{Count: 10})
	require.NoError(t, err)
	selected, err := foreign.Select("delay")
	require.NoError(t, err)
	assert.Equal(t, endian.NonNativeEndian, selected.Schema().Endianness())
	require.NoError(t, selected.Release())
	require.NoError(t, foreign.Release())
}

func TestViewsRefuse(t *testing.T) {
	mgr := hostManager(t)
	table := upload(t, mgr, flights(t, 10))
	field := arrow.Field{Name: "more", Type: arrow.PrimitiveTypes.Int64}
	before := mgr.Stats()
	_, err := table.Select("delay", "arrival")
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.ErrorContains(t, err, `"arrival"`)

	for _, cut := range [][2]int64{{-1, 1}, {0, 11}, {11, 0}, {1, 10}, {0, -1}, {5, 1 << 62}, {1 << 62, 1 << 62}} {
		_, err := table.Slice(cut[0], cut[1])
		require.ErrorIs(t, err, buffer.ErrRows, "%v", cut)
	}

	half, err := table.Slice(0, 5)
	require.NoError(t, err)
	_, err = table.AppendColumn(field, half.Column(0))
	require.ErrorIs(t, err, buffer.ErrRows)
	gone, err := table.Column(0).Slice(0, 10)
	require.NoError(t, err)
	require.NoError(t, gone.Release())
	_, err = table.AppendColumn(field, gone)
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = table.AppendColumn(field, nil)
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = table.AppendColumn(field, table.Column(5))
	require.ErrorIs(t, err, buffer.ErrSchema)
	_, err = table.AppendColumn(arrow.Field{Name: "more"}, table.Column(0))
	require.ErrorIs(t, err, buffer.ErrSchema)
	require.NoError(t, half.Release())
	assert.Equal(t, before.Blocks, mgr.Stats().Blocks)
}
