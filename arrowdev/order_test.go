//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/devicetest"
	"github.com/gpuframe/gpuframe/internal/faulttest"
	"github.com/gpuframe/gpuframe/internal/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// eachGPU runs f on a device that passes for a GPU and, where there is one, on a
// GPU: only those have events.
func eachGPU(t *testing.T, f func(t *testing.T, m *memory.Manager)) {
	t.Run("launchtest", func(t *testing.T) {
		f(t, devicetest.Manager(t, launchtest.Open(t, &launchtest.GPU{}), memory.Options{}))
	})
	t.Run("cuda:0", func(t *testing.T) {
		f(t, devicetest.Manager(t, devicetest.Open(t, "cuda:0"), memory.Options{}))
	})
}

func newStream(t testing.TB, dev *device.Device) *device.Stream {
	t.Helper()
	stream, err := dev.NewStream()
	require.NoError(t, err)
	return stream
}

// ready gives the array an event behind the work on the stream, which is closed
// with the test.
func ready(t testing.TB, p *producertest.Producer, stream *device.Stream) {
	t.Helper()
	event, err := stream.Record()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, event.Close()) })
	p.Device.SyncEvent = p.Words([]uintptr{uintptr(event.Handle())})
}

func zeros(n int) arrow.Array {
	data := array.NewData(arrow.PrimitiveTypes.Uint8, n, int32s(make([]int32, n/4)...).Data().Buffers(), nil, 0, 0)
	return array.NewUint8Data(data)
}

// The producer's work, however long, comes before what is done with the table.
func TestTheProducersEventComesFirst(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		const n, fills = 1 << 22, 50
		producer, work := newStream(t, m.Device()), newStream(t, m.Device())
		for _, options := range []ImportOptions{{}, {Stream: work}, {Unchecked: true}} {
			p, a := foreignTable(t, m, recordOf(zeros(n)))
			at := device.Pointer(buffersOf(childOf(&p.Device.Array, 0))[1])
			for i := range uint32(fills) {
				require.NoError(t, m.Device().Driver().MemsetAsync(at, i, 1, n, producer.Handle()))
			}
			ready(t, p, producer)
			table, err := Import(m, pointerTo(p.Device), a.Schema(), options)
			require.NoError(t, err)
			values := download(t, table).Column(0).(*array.Uint8).Uint8Values()
			assert.Equal(t, uint8(fills-1), values[0])
			assert.Equal(t, uint8(fills-1), values[n-1])
			require.NoError(t, a.Release())
			requireReleasedOnce(t, p)
			requireNothingHeld(t, m)
		}
		require.NoError(t, producer.Close())
		require.NoError(t, work.Close())
	})
}

// waits are the driver's operations that hold up whoever calls them.
var waits = map[string]bool{
	"Synchronize": true, "StreamSynchronize": true, "EventSynchronize": true, "CopyToHost": true, "CopyToDevice": true, "Memset": true,
	"CopyToHostAsync": true, // a download, which somebody then waits for
}

var errWaits = errors.New("this waits")

// Neither an export nor an import waits for anything, unless there are contents to
// look at.
func TestNothingWaits(t *testing.T) {
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

// The event that goes out is behind the work on all the blocks.
func TestTheEventOfAnExport(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 22
		consumer := newStream(t, m.Device())
		one, other := upload(t, m, recordOf(zeros(n))), upload(t, m, recordOf(zeros(n)))
		both, err := one.AppendColumn(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Uint8, Nullable: true}, other.Column(0))
		require.NoError(t, err)
		streams := []*device.Stream{newStream(t, m.Device()), newStream(t, m.Device())}
		for i, stream := range streams {
			values := both.Column(i).Buffer(1)
			for fill := range uint32(20) {
				require.NoError(t, m.Device().Driver().MemsetAsync(values.Pointer(), fill, 1, n, stream.Handle()))
			}
			require.NoError(t, values.Block().RecordUse(stream))
		}
		a, err := Export(both, ExportOptions{Stream: consumer})
		require.NoError(t, err)
		d := deviceArray(a)
		require.NotZero(t, d.SyncEvent)
		handle := *(*backend.Event)(pointerAt(d.SyncEvent))
		require.NoError(t, m.Device().Driver().StreamWaitEvent(consumer.Handle(), handle))
		for i := range 2 {
			got := make([]byte, n)
			at := device.Pointer(buffersOf(childOf(&d.Array, i))[1])
			require.NoError(t, m.Device().Driver().CopyToHostAsync(unsafe.Pointer(&got[0]), at, n, consumer.Handle()))
			require.NoError(t, consumer.Synchronize(t.Context()))
			assert.Equal(t, byte(19), got[0])
			assert.Equal(t, byte(19), got[n-1])
		}
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

// Where nothing is at work there is nothing to wait for.
func TestNoEventOfWhatIsDone(t *testing.T) {
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

// The consumer's work on its stream comes before what the owner does next: the
// consumer fills the memory, gives it back at once, and the owner reads.
func TestTheConsumersWorkComesFirst(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 20
		consumer := newStream(t, m.Device())
		table := upload(t, m, recordOf(zeros(n)))
		for round := range byte(20) {
			a, err := Export(table, ExportOptions{Stream: consumer})
			require.NoError(t, err)
			at := device.Pointer(buffersOf(childOf(&deviceArray(a).Array, 0))[1])
			require.NoError(t, m.Device().Driver().MemsetAsync(at, uint32(round), 1, n, consumer.Handle()))
			require.NoError(t, a.Release())
			values := arrayOf(t, table.Column(0)).(*array.Uint8).Uint8Values()
			require.Equal(t, round, values[0])
			require.Equal(t, round, values[n-1])
		}
		require.NoError(t, table.Release())
		require.NoError(t, consumer.Close())
		requireNothingHeld(t, m)
	})
}

// On the host there is no event, and the export waits until its context ends.
func TestTheContextEndsTheWaitOfTheHost(t *testing.T) {
	m := newHostManager(t)
	table := upload(t, m, recordOf(zeros(1<<20)))
	require.NoError(t, table.Column(0).Buffer(1).Fill(nil, 7))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(faulttest.ErrGone)
	if _, err := Export(table, ExportOptions{Context: ctx}); err != nil { // it may be done already
		require.ErrorIs(t, err, faulttest.ErrGone)
	}
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

// The memory belongs to the stream that was asked for.
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
