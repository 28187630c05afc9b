package buffer_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestReferencesAreCounted(t *testing.T) {
	mgr := hostManager(t)
	record := flights(t, 10)
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	assert.Contains(t, table.String(), "buffer of 10 rows × 6 columns\n")
	require.NoError(t, table.Retain())
	require.NoError(t, table.Retain())
	for range 2 {
		require.NoError(t, table.Release())
		require.NoError(t, table.Check())
		requireRecord(t, record, table)
	}
	require.NoError(t, table.Release())
	requireEmpty(t, mgr)
	require.ErrorIs(t, table.Release(), memory.ErrReleased)
	require.ErrorIs(t, table.Retain(), memory.ErrReleased)
	assert.Zero(t, mgr.Stats().DoubleReleases, "the blocks were not touched")
}

func TestReleasedAndNilTables(t *testing.T) {
	mgr := hostManager(t)
	other := upload(t, mgr, flights(t, 10))
	released, err := other.Select("delay")
	require.NoError(t, err)
	require.NoError(t, released.Release())
	field := arrow.Field{Name: "more", Type: arrow.PrimitiveTypes.Int64}

	for name, table := range map[string]*buffer.Buffer{"released": released, "nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			for operation, f := range map[string]func() error{
				"Check":        table.Check,
				"Retain":       table.Retain,
				"NumRows":      func() error { _, err := table.NumRows(t.Context()); return err },
				"Record":       func() error { _, err := table.Record(t.Context()); return err },
				"Slice":        func() error { _, err := table.Slice(0, 0); return err },
				"Select":       func() error { _, err := table.Select("delay"); return err },
				"AppendColumn": func() error { _, err := table.AppendColumn(field, other.Column(0)); return err },
				"ColumnByName": func() error { _, err := table.ColumnByName("delay"); return err },
			} {
				require.ErrorIs(t, f(), memory.ErrReleased, operation)
			}
			if table == nil {
				require.NoError(t, table.Release())
			} else {
				require.ErrorIs(t, table.Release(), memory.ErrReleased)
			}
			assert.NotEmpty(t, table.String())
		})
	}
}

func TestManyGoroutines(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		record := flights(t, 200)
		table := counted(t, mgr, record, 150)
		var group errgroup.Group
		for worker := range 8 {
			group.Go(func() error {
				for i := range 10 {
					if err := table.Retain(); err != nil {
						return err
					}
					rows, err := table.NumRows(t.Context())
					if err != nil || rows != 150 {
						return errors.Join(err, errors.New("another number of rows"))
					}
					part, err := table.Slice(int64(worker), int64(i))
					if err != nil {
						return err
					}
					back, err := part.Record(t.Context())
					if err != nil {
						return err
					}
					if back.NumRows() != int64(i) {
						return errors.New("the slice has another length")
					}
					back.Release()
					if err := errors.Join(part.Release(), table.Release()); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
	})
}

func TestRecordAfterTheLoadsStreamWasClosed(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		want := flights(t, 100)
		table, err := buffer.FromRecords(t.Context(), mgr, []arrow.Record{want}, buffer.LoadOptions{Stream: stream})
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		got, err := table.Record(t.Context())
		require.NoError(t, err)
		defer got.Release()
		require.True(t, array.RecordEqual(want, got))
		require.NoError(t, table.Release())
	})
}
