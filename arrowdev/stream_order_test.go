//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"io"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/memory"
)

// In these tests the producer's work has not begun when the batches are handed over.

const (
	lateBatches = 4
	lateRows    = 1 << 16
	lateBytes   = 4 * lateRows
	lateValue   = 0x5a
)

// late is a device with events and a stream that is held up.
type late struct {
	*memory.Manager
	gates    *stall.Gates
	producer *device.Stream
	consumer *device.Stream
	// copies holds the consumer's copies of the batches.
	copies device.Pointer
}

// eachLate runs f on devices with events: a simulated GPU and, if the machine has
// one, a real GPU.
func eachLate(t *testing.T, f func(t *testing.T, l *late)) {
	run := func(t *testing.T, dev *device.Device) {
		balanced(t, dev, memory.Options{}, func(t *testing.T, m *memory.Manager) {
			l := &late{Manager: m, gates: stall.New(t, dev)}
			var err error
			l.producer, err = dev.NewStream()
			require.NoError(t, err)
			l.consumer, err = dev.NewStream()
			require.NoError(t, err)
			l.copies, err = dev.Driver().Alloc(lateBatches * lateBytes)
			require.NoError(t, err)
			f(t, l)
			require.NoError(t, l.producer.Close())
			require.NoError(t, l.consumer.Close())
			require.NoError(t, dev.Driver().Free(l.copies))
		})
	}
	t.Run("launchtest", func(t *testing.T) { run(t, launchtest.Open(t, &launchtest.GPU{})) })
	t.Run("cuda:0", func(t *testing.T) { run(t, devicetest.Open(t, "cuda:0")) })
}

// take enqueues a copy of a batch on a stream.
func (l *late) take(t *testing.T, batch int, from device.Pointer, stream *device.Stream) {
	t.Helper()
	to := l.copies.Add(uint64(batch * lateBytes))
	require.NoError(t, l.Device().Driver().CopyOnDeviceAsync(to, from, lateBytes, stream.Handle()))
}

// requireCopies lets the producer's work run and checks the consumer's copies.
func (l *late) requireCopies(t *testing.T, held *stall.Stall) {
	t.Helper()
	require.True(t, held.Holding(), "nothing has waited")
	require.NoError(t, held.Finish(t.Context()))
	require.NoError(t, l.Stream().Synchronize(t.Context()))
	require.NoError(t, l.consumer.Synchronize(t.Context()))
	got := make([]byte, lateBatches*lateBytes)
	require.NoError(t, l.Device().Driver().CopyToHost(unsafe.Pointer(&got[0]), l.copies, uint64(len(got))))
	for i, value := range got {
		if value != lateValue {
			require.Failf(t, "stale data", "byte %d is %#x", i, value)
		}
	}
}

// foreign makes batches of another library. Their contents are written by work that
// is held up.
func (l *late) foreign(t *testing.T) (*cabitest.Batches, *stall.Stall) {
	t.Helper()
	b := foreignBatches(t, l.Manager, lateBatches, lateRows)
	held := l.gates.Hold(l.producer)
	driver := l.Device().Driver()
	require.NoError(t, driver.MemsetAsync(device.Pointer(b.Data), lateValue, 1, lateBatches*lateBytes, l.producer.Handle()))
	event, err := l.producer.Record()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, event.Close()) })
	cell := newStruct[backend.Event](t)
	*cell = event.Handle()
	b.SyncEvent = uintptr(unsafe.Pointer(cell))
	return b, held
}

// read reads all of a reader's tables. It waits only for the producer's calls.
func (l *late) read(t *testing.T, reader buffer.Reader) []*buffer.Buffer {
	t.Helper()
	var tables []*buffer.Buffer
	for {
		table, err := reader.Next(t.Context())
		if err == io.EOF {
			require.Len(t, tables, lateBatches)
			require.NoError(t, reader.Close())
			return tables
		}
		require.NoError(t, err)
		values := table.Column(0).Buffer(1)
		l.take(t, len(tables), values.Pointer(), values.Block().Stream())
		require.NoError(t, values.Block().RecordUse(values.Block().Stream()))
		tables = append(tables, table)
	}
}

func TestForeignStreamOfPendingWork(t *testing.T) {
	eachLate(t, func(t *testing.T, l *late) {
		foreign, held := l.foreign(t)
		stream := newStruct[cabi.DeviceStream](t)
		foreign.DeviceStream(stream)
		reader, err := arrowdev.ImportStream(l.Manager, pointerTo(stream))
		require.NoError(t, err)
		tables := l.read(t, reader)
		l.requireCopies(t, held)
		releaseTables(t, tables)
		requireGivenBack(t, foreign)
	})
}

func TestForeignAsyncStreamOfPendingWork(t *testing.T) {
	eachLate(t, func(t *testing.T, l *late) {
		foreign, held := l.foreign(t)
		reader, sender := send(t, l.Manager, foreign, cabitest.Good, 0, 0, 2)
		defer sender.Free()
		tables := l.read(t, reader)
		require.NoError(t, sender.Join())
		l.requireCopies(t, held)
		releaseTables(t, tables)
		requireGivenBack(t, foreign)
	})
}

// own makes a reader of tables. Their contents are written by work that is held up.
func (l *late) own(t *testing.T) (*tables, *stall.Stall) {
	t.Helper()
	source := newTables(l.Manager, lateBatches, lateRows)
	made := make([]*buffer.Buffer, lateBatches)
	for i := range made {
		var err error
		made[i], err = numbersTable(l.Manager, i, lateRows)
		require.NoError(t, err)
		source.at[i] = func(context.Context) (*buffer.Buffer, error) { return made[i], nil }
	}
	held := l.gates.Hold(l.producer)
	for _, table := range made {
		values := table.Column(0).Buffer(1)
		require.NoError(t, values.Block().OrderBefore(l.producer))
		require.NoError(t, l.Device().Driver().MemsetAsync(values.Pointer(), lateValue, 1, lateBytes, l.producer.Handle()))
		require.NoError(t, values.Block().RecordUse(l.producer))
	}
	return source, held
}

// consume acts as another library: its stream waits for the event and copies, and it
// releases the array.
func (l *late) consume(t *testing.T, batch int, array *cabi.DeviceArray) {
	t.Helper()
	require.NotZero(t, array.SyncEvent)
	event := *(*backend.Event)(address.Pointer(array.SyncEvent))
	require.NoError(t, l.Device().Driver().StreamWaitEvent(l.consumer.Handle(), event))
	child := *(**cabi.Array)(address.Pointer(array.Array.Children))
	buffers := unsafe.Slice((*device.Pointer)(address.Pointer(child.Buffers)), child.NumBuffers)
	l.take(t, batch, buffers[1], l.consumer)
	cabi.ReleaseArray(&array.Array)
}

func TestExportedStreamOfPendingWork(t *testing.T) {
	eachLate(t, func(t *testing.T, l *late) {
		source, held := l.own(t)
		stream, array := newStruct[cabi.DeviceStream](t), newStruct[cabi.DeviceArray](t)
		require.NoError(t, arrowdev.ExportStream(l.Manager, source, pointerTo(stream), arrowdev.ExportOptions{Stream: l.consumer}))
		for i := range lateBatches {
			require.Zero(t, cabitest.NextOnThread(stream, array))
			l.consume(t, i, array)
		}
		require.NoError(t, cabitest.ReleaseStreamOnThread(stream))
		l.requireCopies(t, held)
	})
}

func TestExportedAsyncStreamOfPendingWork(t *testing.T) {
	eachLate(t, func(t *testing.T, l *late) {
		source, held := l.own(t)
		array := newStruct[cabi.DeviceArray](t)
		consumer := cabitest.NewReceiver(cabitest.Habits{RequestFirst: lateBatches + 1})
		defer consumer.Free()
		done := make(chan error, 1)
		go func() {
			done <- arrowdev.ExportAsync(context.Background(), l.Manager, source, pointerTo(consumer.Handler()), arrowdev.ExportOptions{Stream: l.consumer})
		}()
		require.NoError(t, <-done)
		for i := range lateBatches {
			require.Zero(t, consumer.Extract(array, i%2 == 0))
			l.consume(t, i, array)
		}
		l.requireCopies(t, held)
	})
}

// Tables in our own streams return as the same tables.
func TestOwnStreamsOfPendingWork(t *testing.T) {
	eachLate(t, func(t *testing.T, l *late) {
		source, held := l.own(t)
		stream := newStruct[cabi.DeviceStream](t)
		require.NoError(t, arrowdev.ExportStream(l.Manager, source, pointerTo(stream)))
		reader, err := arrowdev.ImportStream(l.Manager, pointerTo(stream))
		require.NoError(t, err)
		var tables []*buffer.Buffer
		for i := range lateBatches {
			table, err := reader.Next(t.Context())
			require.NoError(t, err)
			values := table.Column(0).Buffer(1)
			require.NoError(t, values.Block().OrderBefore(l.consumer))
			l.take(t, i, values.Pointer(), l.consumer)
			require.NoError(t, values.Block().RecordUse(l.consumer))
			tables = append(tables, table)
		}
		require.NoError(t, reader.Close())
		l.requireCopies(t, held)
		releaseTables(t, tables)
	})
}

func releaseTables(t *testing.T, tables []*buffer.Buffer) {
	t.Helper()
	for _, table := range tables {
		require.NoError(t, table.Release())
	}
}
