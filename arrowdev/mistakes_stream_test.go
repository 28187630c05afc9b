//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// The tests in this file check that gpuframe does not repeat known mistakes of other
// libraries' streams.

// spoil fills every field of a struct with garbage, like memory that a consumer has
// not cleared.
func spoil(out *cabi.DeviceArray) {
	garbage := ^uintptr(0)
	*out = cabi.DeviceArray{
		Array:    cabi.Array{Length: -1, NullCount: -5, Offset: 9, NumBuffers: 7, Dictionary: garbage, Private: garbage},
		DeviceID: 99, DeviceType: 99, SyncEvent: garbage, Reserved: [3]int64{1, 2, 3},
	}
}

// arrow-go's streams leave sync_event unset. Here every field of the arrays of both
// kinds of stream is set, whether work is pending or not.
func TestMistakeTasksWithoutAnEvent(t *testing.T) {
	eachLate(t, func(t *testing.T, l *late) {
		source, held := l.own(t)
		consumer := cabitest.NewReceiver(cabitest.Habits{RequestFirst: lateBatches + 1})
		defer consumer.Free()
		require.NoError(t, <-produce(l.Manager, source, consumer))
		array := newStruct[cabi.DeviceArray](t)
		for i := range lateBatches {
			spoil(array)
			require.Zero(t, consumer.Extract(array, true))
			require.Equal(t, cabi.DeviceCUDA, int(array.DeviceType))
			require.Zero(t, array.Reserved)
			require.Zero(t, array.Array.Dictionary)
			l.consume(t, i, array) // requires an event
		}
		l.requireCopies(t, held)
	})
}

// If no work is pending, sync_event is NULL instead of the old contents.
func TestMistakeFieldsOfStreamsThatAreLeftUnset(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		table, err := numbersTable(m, 0, 3)
		require.NoError(t, err)
		for block := range table.Column(0).Blocks {
			require.NoError(t, block.Synchronize(t.Context()))
		}
		source := newTables(m, 1, 3)
		source.at[0] = func(context.Context) (*buffer.Buffer, error) { return table, nil }
		stream, array := newStruct[cabi.DeviceStream](t), newStruct[cabi.DeviceArray](t)
		require.NoError(t, arrowdev.ExportStream(m, source, pointerTo(stream)))
		spoil(array)
		require.Zero(t, cabitest.NextOnThread(stream, array))
		require.Zero(t, array.SyncEvent)
		require.Zero(t, array.Reserved)
		require.Zero(t, array.Array.Offset)
		cabi.ReleaseArray(&array.Array)
		spoil(array)
		require.Zero(t, cabitest.NextOnThread(stream, array))
		require.Zero(t, array.Array.Release, "the end")
		require.NoError(t, cabitest.ReleaseStreamOnThread(stream))
	})
}

// arrow-go's tasks write to a NULL out. By the standard a NULL out drops the batch;
// gpuframe's producer drops it.
func TestMistakeTasksExtractedToNowhere(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		const batches = 4
		source := newTables(m, batches, 3)
		consumer := cabitest.NewReceiver(cabitest.Habits{RequestFirst: batches + 1})
		defer consumer.Free()
		require.NoError(t, <-produce(m, source, consumer))
		array := newStruct[cabi.DeviceArray](t)
		for i := range batches {
			if i%2 == 0 {
				require.Zero(t, consumer.Extract(nil, i == 0))
				require.Equal(t, cabi.EINVAL, consumer.ExtractAgain(nil))
				continue
			}
			require.Zero(t, consumer.Extract(array, i == 1))
			require.EqualValues(t, 3, array.Array.Length)
			cabi.ReleaseArray(&array.Array)
		}
		require.Zero(t, m.Stats().InUse)
	})
}

// gpuframe's consumer drops unneeded batches in the same way.
func TestMistakeTasksThatAreNotNeeded(t *testing.T) {
	streaming(t, func(t *testing.T, m *memory.Manager) {
		foreign := foreignBatches(t, m, 5, 3)
		reader, sender := send(t, m, foreign, cabitest.Good, 0, 0, 4)
		defer sender.Free()
		table, err := reader.Next(t.Context())
		require.NoError(t, err)
		requireNumbers(t, table, 0, 3)
		require.NoError(t, reader.Close())
		require.NoError(t, sender.Join())
		requireGivenBack(t, foreign)
	})
}
