//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// othersStream makes a stream outside the manager, as another library does.
func othersStream(t testing.TB, dev *device.Device) (stream *device.Stream, destroy func()) {
	t.Helper()
	handle, err := dev.Driver().StreamCreate()
	require.NoError(t, err)
	return dev.WrapStream(handle), func() { require.NoError(t, dev.Driver().StreamDestroy(handle)) }
}

// A consumer may destroy the stream of an export before it releases the array. A
// producer may destroy the stream that the memory was to belong to. The work that the
// consumer has enqueued still completes before the memory is reused.
func TestForeignStreamsDestroyedEarly(t *testing.T) {
	eachKernel(t, func(t *testing.T, m *memory.Manager) {
		const n = 1 << 16
		dev := m.Device()
		out := devicetest.Foreign(t, dev, make([]byte, n))
		for round := range byte(20) {
			table := upload(t, m, recordOf(zeros(n)))
			values := table.Column(0).Buffer(1)
			require.NoError(t, values.Fill(nil, round))
			consumer, destroy := othersStream(t, dev)
			a, err := Export(table, ExportOptions{Stream: consumer})
			require.NoError(t, err)
			if at := deviceArray(a).SyncEvent; at != 0 { // NULL: the values are ready
				event := *(*backend.Event)(pointerAt(at))
				require.NoError(t, dev.Driver().StreamWaitEvent(consumer.Handle(), event))
			}
			enqueueCopy(t, out, device.Pointer(buffersOf(childOf(&deviceArray(a).Array, 0))[1]), n, consumer)
			destroy()
			require.NoError(t, table.Release())
			require.NoError(t, a.Release())
			// The next table takes the memory that has just been released.
			again := upload(t, m, recordOf(zeros(n)))
			require.NoError(t, again.Column(0).Buffer(1).Fill(nil, 0xee))
			require.NoError(t, dev.Synchronize(t.Context()))
			requireBytes(t, m, out, round, n)
			require.NoError(t, again.Release())
		}

		producer, destroy := othersStream(t, dev)
		p, a := foreignTable(t, m, recordOf(int32s(1, 2, 3)))
		table, err := Import(m, pointerTo(p.Device), a.Schema(), ImportOptions{Stream: producer})
		require.NoError(t, err)
		destroy()
		requireRecord(t, recordOf(int32s(1, 2, 3)), download(t, table))
		requireReleasedOnce(t, p)
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
	})
}

// A release makes no driver call, because it may come during a capture.
func TestReleasesMakeNoDriverCall(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	m := devicetest.Manager(t, dev, memory.Options{})
	handle, err := dev.Driver().StreamCreate()
	require.NoError(t, err)
	for name, stream := range map[string]*device.Stream{
		"none": nil, "legacy default": dev.DefaultStream(), "per-thread default": dev.WrapStream(2), "another library's": dev.WrapStream(handle),
	} {
		t.Run(name, func(t *testing.T) {
			table := upload(t, m, recordOf(int32s(1, 2, 3), texts("a", "b", "c")))
			require.NoError(t, table.Column(0).Buffer(1).Fill(nil, 1)) // an event is needed
			a, err := Export(table, ExportOptions{Stream: stream})
			require.NoError(t, err)
			require.NoError(t, table.Release())
			before := len(gpu.Calls())
			require.NoError(t, a.Release())
			assert.Empty(t, gpu.Calls()[before:])
		})
	}
	require.NoError(t, dev.Driver().StreamDestroy(handle))
	requireNothingHeld(t, m)
}

// The per-thread default stream differs from thread to thread. The legacy default
// stream replaces it: it waits for all of them, and they wait for it.
func TestImportOnThePerThreadStream(t *testing.T) {
	eachGPU(t, func(t *testing.T, m *memory.Manager) {
		p, a := foreignTable(t, m, recordOf(int32s(1, 2, 3)))
		producer := newStream(t, m.Device())
		ready(t, p, producer)
		table, err := Import(m, pointerTo(p.Device), a.Schema(), ImportOptions{Stream: m.Device().WrapStream(backend.Stream(2))})
		require.NoError(t, err)
		for block := range table.Column(0).Blocks {
			require.Equal(t, m.Device().DefaultStream().Handle(), block.Stream().Handle())
		}
		requireRecord(t, recordOf(int32s(1, 2, 3)), download(t, table))
		require.NoError(t, a.Release())
		require.NoError(t, producer.Close())
		requireNothingHeld(t, m)
	})
}
