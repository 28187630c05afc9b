//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/internal/testing/stall"
	"github.com/gpuframe/gpuframe/memory"
)

// The producer's work is still pending when the import returns. Work that is enqueued
// afterwards runs after it.
func TestImportWaitsForTheProducersEvent(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 20
		gates := stall.New(t, m.Device())
		producer, work, other := newStream(t, m.Device()), newStream(t, m.Device()), newStream(t, m.Device())
		for round, options := range []ImportOptions{{}, {Stream: work}, {Unchecked: true}} {
			p, a := foreignTable(t, m, recordOf(zeros(n)))
			out := devicetest.Foreign(t, m.Device(), make([]byte, 2*n))
			at := device.Pointer(buffersOf(childOf(&p.Device.Array, 0))[1])
			held := gates.Hold(producer)
			value := byte(round + 1)
			enqueueFill(t, at, value, n, producer)
			ready(t, p, producer)
			table, err := Import(m, pointerTo(p.Device), a.Schema(), options)
			require.NoError(t, err)
			// One copy runs on the table's own stream, one on another that is ordered
			// after it.
			block := table.Column(0).Buffer(1).Block()
			enqueueCopy(t, out, at, n, block.Stream())
			require.NoError(t, block.RecordUse(block.Stream()))
			require.NoError(t, block.OrderBefore(other))
			enqueueCopy(t, out.Add(n), at, n, other)
			require.NoError(t, block.RecordUse(other))
			require.True(t, held.Holding(), "nothing has waited")
			require.NoError(t, held.Finish(t.Context()))
			require.NoError(t, block.Synchronize(t.Context()))
			requireBytes(t, m, out, value, 2*n)
			require.NoError(t, table.Release())
			require.NoError(t, a.Release())
			requireReleasedOnce(t, p)
			requireNothingHeld(t, m)
		}
		for _, stream := range []*device.Stream{producer, work, other} {
			require.NoError(t, stream.Close())
		}
	})
}

// waits are the driver operations that block the caller.
var waits = map[string]bool{
	"Synchronize": true, "StreamSynchronize": true, "EventSynchronize": true, "CopyToHost": true, "CopyToDevice": true, "Memset": true,
	"CopyToHostAsync": true, // a download, which the caller then waits for
}

var errWaits = errors.New("this waits")

// An export or import waits only if it checks contents.
func TestExportsAndImportsDoNotWait(t *testing.T) {
	dev, driver := faulttest.OpenGPU(t, nil)
	m := devicetest.Manager(t, dev, memory.Options{})
	producer := newStream(t, dev)
	never := func(call faulttest.Call) error {
		if waits[call.Operation] {
			return errWaits
		}
		return nil
	}
	for _, each := range []struct {
		record  arrow.Record
		options ImportOptions
	}{{recordOf(int32s(1, 2), int32s(3, 4)), ImportOptions{}}, {two(), ImportOptions{Unchecked: true}}} {
		p, a := foreignTable(t, m, each.record)
		ready(t, p, producer)
		driver.Arm(never)
		table, err := Import(m, pointerTo(p.Device), a.Schema(), each.options)
		require.NoError(t, err)
		require.Equal(t, 1, driver.Counts()["StreamWaitEvent"], "one wait for the producer")
		require.NoError(t, a.Release())
		out, err := Export(table)
		require.NoError(t, err)
		require.NotZero(t, deviceArray(out).SyncEvent)
		driver.Arm(nil)
		require.NoError(t, out.Release())
		require.NoError(t, table.Release())
	}
	requireNothingHeld(t, m)
	require.NoError(t, producer.Close())
}

// The exported event follows the work on all the blocks.
func TestTheEventOfAnExport(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 20
		gates := stall.New(t, m.Device())
		consumer := newStream(t, m.Device())
		one, other := upload(t, m, recordOf(zeros(n))), upload(t, m, recordOf(zeros(n)))
		both, err := one.AppendColumn(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Uint8, Nullable: true}, other.Column(0))
		require.NoError(t, err)
		out := devicetest.Foreign(t, m.Device(), make([]byte, 2*n))
		streams := []*device.Stream{newStream(t, m.Device()), newStream(t, m.Device())}
		held := make([]*stall.Stall, len(streams))
		for i, stream := range streams {
			held[i] = gates.Hold(stream)
			values := both.Column(i).Buffer(1)
			enqueueFill(t, values.Pointer(), 7, n, stream)
			require.NoError(t, values.Block().RecordUse(stream))
		}
		a, err := Export(both, ExportOptions{Stream: consumer})
		require.NoError(t, err)
		d := deviceArray(a)
		require.NotZero(t, d.SyncEvent)
		event := *(*backend.Event)(pointerAt(d.SyncEvent))
		require.NoError(t, m.Device().Driver().StreamWaitEvent(consumer.Handle(), event))
		for i := range streams {
			enqueueCopy(t, out.Add(uint64(i*n)), device.Pointer(buffersOf(childOf(&d.Array, i))[1]), n, consumer)
		}
		for i, each := range held {
			done, err := m.Device().Driver().EventQuery(event)
			require.NoError(t, err)
			require.False(t, done, "the work on block %d is ahead", i)
			require.True(t, each.Holding(), "nothing has waited")
			require.NoError(t, each.Finish(t.Context()))
		}
		require.NoError(t, consumer.Synchronize(t.Context()))
		requireBytes(t, m, out, 7, 2*n)
		require.NoError(t, a.Release())
		for _, table := range []*buffer.Buffer{one, other, both} {
			require.NoError(t, table.Release())
		}
		for _, stream := range append(streams, consumer) {
			require.NoError(t, stream.Synchronize(t.Context()))
			require.NoError(t, stream.Close())
		}
		requireNothingHeld(t, m)
	})
}

// If no work is pending, the array has no event.
func TestNoEventWithoutPendingWork(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		table := upload(t, m, two())
		for block := range table.Column(0).Blocks {
			require.NoError(t, block.Synchronize(t.Context()))
		}
		a, err := Export(table)
		require.NoError(t, err)
		require.Zero(t, deviceArray(a).SyncEvent)
		require.NoError(t, a.Release())
		require.NoError(t, table.Release())
	})
}

// The consumer's work on its stream runs before the owner's next work. The consumer
// releases the memory before its work has begun; the owner reads the memory and
// releases it. No call waits.
func TestConsumersWorkPrecedesReuse(t *testing.T) {
	eachDeviceAndLook(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 20
		gates := stall.New(t, m.Device())
		consumer, reader := newStream(t, m.Device()), newStream(t, m.Device())
		out := devicetest.Foreign(t, m.Device(), make([]byte, n))
		for round := range byte(3) {
			table := upload(t, m, recordOf(zeros(n)))
			a, err := Export(table, ExportOptions{Stream: consumer})
			require.NoError(t, err)
			at := device.Pointer(buffersOf(childOf(&deviceArray(a).Array, 0))[1])
			held := gates.Hold(consumer)
			enqueueFill(t, at, round+1, n, consumer)
			require.NoError(t, a.Release())
			block := table.Column(0).Buffer(1).Block()
			require.NoError(t, block.OrderBefore(reader))
			enqueueCopy(t, out, at, n, reader)
			require.NoError(t, block.RecordUse(reader))
			require.NoError(t, table.Release())
			require.True(t, held.Holding(), "nothing has waited")
			require.NoError(t, held.Finish(t.Context()))
			require.NoError(t, reader.Synchronize(t.Context()))
			requireBytes(t, m, out, round+1, n)
		}
		require.NoError(t, consumer.Close())
		require.NoError(t, reader.Close())
		requireNothingHeld(t, m)
	})
}

// On the host there is no event, and the export waits until its context ends.
func TestContextEndsTheHostWait(t *testing.T) {
	m := newHostManager(t)
	gates := stall.New(t, m.Device())
	table := upload(t, m, recordOf(zeros(1<<20)))
	held := gates.Hold(m.Stream())
	require.NoError(t, table.Column(0).Buffer(1).Fill(nil, 7))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(faulttest.ErrGone)
	_, err := Export(table, ExportOptions{Context: ctx})
	require.ErrorIs(t, err, faulttest.ErrGone)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, held.Holding())
	held.Release()
	a, err := Export(table)
	require.NoError(t, err)
	require.EqualValues(t, 7, *(*byte)(pointerAt(buffersOf(childOf(&deviceArray(a).Array, 0))[1])))
	require.NoError(t, a.Release())
	require.NoError(t, table.Release())
	requireNothingHeld(t, m)
}

func TestBadEvents(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		for _, event := range []func(p *producertest.Producer) uintptr{
			func(p *producertest.Producer) uintptr { return p.Words([]uintptr{0}) },
			func(p *producertest.Producer) uintptr { return p.Words([]uintptr{0}) + 4 },
		} {
			p, a := foreignTable(t, m, recordOf(int32s(1)))
			p.Device.SyncEvent = event(p)
			_, err := Import(m, pointerTo(p.Device), a.Schema())
			requireFault(t, err, "import", "ArrowDeviceArray.sync_event", ErrInvalid)
			requireReleasedOnce(t, p)
			require.NoError(t, a.Release())
		}
		requireNothingHeld(t, m)
	})
}

func TestStreamsOfOtherDevices(t *testing.T) {
	m := newHostManager(t)
	gpu := launchtest.Open(t, &launchtest.GPU{})
	a := exported(t, m, two())
	_, err := Import(m, a.Device(), a.Schema(), ImportOptions{Stream: gpu.DefaultStream()})
	requireFault(t, err, "import", "options.Stream", device.ErrInvalidValue)
	require.NoError(t, a.Release())
	requireNothingHeld(t, m)
}

// The memory belongs to the stream of the options.
func TestTheStreamOfAnImport(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		stream := newStream(t, m.Device())
		p, a := foreignTable(t, m, recordOf(int32s(1)))
		c, _, err := ImportColumn(m, unsafe.Pointer(p.Device), a.Schema(), ImportOptions{Stream: stream})
		require.NoError(t, err)
		for block := range c.Blocks {
			require.Same(t, stream, block.Stream())
		}
		require.NoError(t, c.Release())
		require.NoError(t, a.Release())
		require.NoError(t, stream.Close())
	})
}
