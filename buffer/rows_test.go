package buffer_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func TestRowCountOnTheDevice(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 40)
		for _, rows := range []int64{0, 1, 13, 40} {
			table := counted(t, mgr, whole, rows)
			_, known := table.HostRows()
			assert.False(t, known)
			assert.EqualValues(t, 40, table.Capacity())
			assert.Contains(t, table.String(), "buffer of at most 40 rows × 6 columns\n")
			_, err := table.Slice(0, 0)
			require.ErrorIs(t, err, buffer.ErrRows)
			require.ErrorContains(t, err, "NumRows")

			got, err := table.NumRows(t.Context())
			require.NoError(t, err)
			assert.Equal(t, rows, got)
			kept, known := table.HostRows()
			assert.True(t, known)
			assert.Equal(t, rows, kept)
			// The count is fetched once, because no work writes the count of an
			// existing table.
			require.NoError(t, table.DeviceRows().Upload(t.Context(), nil, []int64{rows / 2}))
			got, err = table.NumRows(t.Context())
			require.NoError(t, err)
			assert.Equal(t, rows, got)
		}
	})
}

func TestRecordHasTheCountedRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		whole := flights(t, 40)
		for _, rows := range []int64{0, 1, 13, 40} {
			want := whole.NewSlice(0, rows)
			before := mgr.Stats()
			requireRecord(t, want, counted(t, mgr, whole, rows))

			table := counted(t, mgr, whole, rows)
			selected, err := table.Select("distance", "delay")
			require.NoError(t, err)
			_, known := selected.HostRows()
			assert.False(t, known, "a selection has the same rows")
			assert.Same(t, table.DeviceRows().Block(), selected.DeviceRows().Block())
			got, err := selected.NumRows(t.Context())
			require.NoError(t, err)
			assert.Equal(t, rows, got)

			again, err := selected.Select()
			require.NoError(t, err)
			kept, known := again.HostRows()
			assert.True(t, known, "what the host has fetched it keeps")
			assert.Equal(t, rows, kept)
			assert.EqualValues(t, 40, again.Capacity())
			requireRecord(t, emptyOf(rows), withoutMetadata(t, again))

			part, err := selected.Slice(rows/2, rows-rows/2)
			require.NoError(t, err)
			assert.EqualValues(t, rows-rows/2, part.Capacity())
			_, err = selected.Slice(0, rows+1)
			require.ErrorIs(t, err, buffer.ErrRows, "a slice ends with the rows and not with the capacity")
			for _, each := range []*buffer.Buffer{part, again, selected} {
				require.NoError(t, each.Release())
			}
			assert.Equal(t, before.Blocks+4, mgr.Stats().Blocks)
			want.Release()
		}
	})
}

// withoutMetadata is the same table with a schema without fields and metadata, until
// the end of the test.
func withoutMetadata(t *testing.T, table *buffer.Buffer) *buffer.Buffer {
	bare, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: table.Capacity(), Device: table.DeviceRows()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bare.Release()) })
	return bare
}

func TestRowCountOutOfRange(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, rows := range []int64{-1, 41, 1 << 62, -1 << 63} {
			table := counted(t, mgr, flights(t, 40), rows)
			_, err := table.NumRows(t.Context())
			require.ErrorIs(t, err, buffer.ErrRows)
			_, known := table.HostRows()
			assert.False(t, known)
			_, err = table.Record(t.Context())
			require.ErrorIs(t, err, buffer.ErrRows)
			// The next attempt fetches the count again.
			require.NoError(t, table.DeviceRows().Upload(t.Context(), nil, []int64{40}))
			got, err := table.NumRows(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 40, got)
		}
	})
}

func TestFetchingTheRowCountCanBeCancelled(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := counted(t, mgr, flights(t, 40), 4)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errInjected)
		_, err := table.NumRows(ctx)
		require.ErrorIs(t, err, errInjected)
		_, err = table.Record(ctx)
		require.ErrorIs(t, err, errInjected)
		rows, err := table.NumRows(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 4, rows)
	})
}
