package stall

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
)

// each runs f on every device, and on the devices that imitate a GPU.
func each(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	devicetest.Each(t, f)
	t.Run("launchtest", func(t *testing.T) { f(t, launchtest.Open(t, &launchtest.GPU{})) })
	t.Run("faulttest", func(t *testing.T) {
		dev, _ := faulttest.OpenGPU(t, nil)
		f(t, dev)
	})
}

// fill writes a value that differs from the earlier contents.
func fill(t *testing.T, at device.Pointer, value byte, stream *device.Stream) {
	t.Helper()
	require.NoError(t, stream.Device().Driver().MemsetAsync(at, uint32(value), 1, 1, stream.Handle()))
}

func memoryOf(t *testing.T, dev *device.Device) device.Pointer {
	t.Helper()
	at, err := dev.Driver().Alloc(1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Driver().Free(at)) })
	require.NoError(t, dev.Driver().Memset(at, 0, 1, 1))
	return at
}

func read(t *testing.T, dev *device.Device, at device.Pointer) (value byte) {
	t.Helper()
	require.NoError(t, dev.Driver().CopyToHost(unsafe.Pointer(&value), at, 1))
	return value
}

// Work behind a gate does not run until the gate opens. Another stream continues,
// unless it waits for the first.
func TestHold(t *testing.T) {
	each(t, func(t *testing.T, dev *device.Device) {
		one, other := memoryOf(t, dev), memoryOf(t, dev)
		gates := New(t, dev)
		held, after, free := newStream(t, dev), newStream(t, dev), newStream(t, dev)
		for round := byte(1); round < 4; round++ {
			stall := gates.Hold(held)
			require.True(t, stall.Holding())
			fill(t, one, round, held)
			require.NoError(t, after.WaitStream(held))
			fill(t, other, round, after)
			require.NoError(t, free.Synchronize(t.Context()))
			done, err := dev.Driver().EventQuery(mark(t, held))
			require.NoError(t, err)
			require.False(t, done)
			require.True(t, stall.Holding())
			require.NoError(t, stall.Finish(t.Context()))
			require.False(t, stall.Holding())
			stall.Release()
			require.NoError(t, after.Synchronize(t.Context()))
			require.Equal(t, []byte{round, round}, []byte{read(t, dev, one), read(t, dev, other)})
		}
	})
}

// Several streams may be blocked at a time, each with its own gate.
func TestManyStalls(t *testing.T) {
	each(t, func(t *testing.T, dev *device.Device) {
		const count = 3 // a driver has few hardware queues, and streams that share one may wait for each other
		gates := New(t, dev)
		var stalls [count]*Stall
		var marks [count]*device.Event
		for i := range stalls {
			stream := newStream(t, dev)
			stalls[i] = gates.Hold(stream)
			event, err := stream.Record()
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, event.Close()) })
			marks[i] = event
		}
		for i := count - 1; i >= 0; i-- {
			for _, behind := range marks[:i+1] {
				done, err := behind.Done()
				require.NoError(t, err)
				require.False(t, done)
			}
			stalls[i].Release()
			require.NoError(t, marks[i].Wait(t.Context()))
		}
	})
}

// The watchdog opens a forgotten gate and reports it.
func TestTheWatchdog(t *testing.T) {
	each(t, func(t *testing.T, dev *device.Device) {
		gates := New(t, dev)
		said := make(chan string, 1)
		gates.report = func(format string, arguments ...any) {
			said <- fmt.Sprintf(format, arguments...)
		}
		stream := newStream(t, dev)
		stall := gates.Hold(stream)
		done, err := dev.Driver().EventQuery(mark(t, stream))
		require.NoError(t, err)
		require.False(t, done)
		stall.dog.Reset(0) // as if the limit had passed
		require.NoError(t, stream.Synchronize(t.Context()), "this waits on the host")
		require.Contains(t, await.Receive(t, said, "the watchdog reports"), fmt.Sprintf("was held up for %v: something waits for it on the host", limit))
		require.False(t, stall.Holding())
		stall.Release()
	})
}

// The end of the test opens the remaining gates, because the device cannot be closed
// before.
func TestTheEndOfTheTestOpensGates(t *testing.T) {
	each(t, func(t *testing.T, dev *device.Device) {
		var stall *Stall
		t.Run("inner", func(t *testing.T) {
			gates := New(t, dev)
			stall = gates.Hold(dev.DefaultStream())
		})
		require.False(t, stall.Holding())
		require.NoError(t, dev.Synchronize(t.Context()))
	})
}

func newStream(t *testing.T, dev *device.Device) *device.Stream {
	t.Helper()
	stream, err := dev.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stream.Close()) })
	return stream
}

func mark(t *testing.T, stream *device.Stream) backend.Event {
	t.Helper()
	event, err := stream.Record()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, event.Close()) })
	return event.Handle()
}
