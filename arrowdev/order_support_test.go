//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// eachGPU runs f on a simulated GPU and on a real one if the machine has one: only
// GPUs have events.
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

// ready gives the array an event after the work on the stream. The event is closed
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

// eachDeviceAndLook runs f on each device and on a simulated GPU.
func eachDeviceAndLook(t *testing.T, f func(t *testing.T, m *memory.Manager)) {
	eachDevice(t, f)
	t.Run("launchtest", func(t *testing.T) {
		f(t, devicetest.Manager(t, launchtest.Open(t, &launchtest.GPU{}), memory.Options{}))
	})
}

// enqueueFill fills memory on a stream, outside the manager.
func enqueueFill(t testing.TB, at device.Pointer, value byte, n uint64, stream *device.Stream) {
	t.Helper()
	require.NoError(t, stream.Device().Driver().MemsetAsync(at, uint32(value), 1, n, stream.Handle()))
}

// enqueueCopy copies between two device addresses on a stream. A copy to host memory
// would wait for a stream that is held up.
func enqueueCopy(t testing.TB, to, from device.Pointer, n uint64, stream *device.Stream) {
	t.Helper()
	require.NoError(t, stream.Device().Driver().CopyOnDeviceAsync(to, from, n, stream.Handle()))
}

// requireBytes checks that all bytes of the memory have one value.
func requireBytes(t testing.TB, m *memory.Manager, at device.Pointer, value byte, n int) {
	t.Helper()
	got := rawBytes(t, m, at, n)
	require.Equal(t, n, bytes.Count(got, []byte{value}), "of %d bytes of value %d; they begin %v", n, value, got[:min(n, 8)])
}

// consumeOn acts as a consumer: its stream waits for the event, which must exist, and
// copies the values of the first column.
func consumeOn(t testing.TB, stream *device.Stream, a *cabi.DeviceArray, to device.Pointer, n uint64) {
	t.Helper()
	require.NotZero(t, a.SyncEvent)
	event := *(*backend.Event)(pointerAt(a.SyncEvent))
	require.NoError(t, stream.Device().Driver().StreamWaitEvent(stream.Handle(), event))
	enqueueCopy(t, to, device.Pointer(buffersOf(childOf(&a.Array, 0))[1]), n, stream)
}
