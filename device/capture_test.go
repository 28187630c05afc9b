package device_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
)

// thing is something that a capture holds.
type thing struct{ references int }

func (t *thing) Retain() error  { t.references++; return nil }
func (t *thing) Release() error { t.references--; return nil }

func handleOf(t *testing.T, enqueue func(func(backend.Stream) error) error) (got backend.Stream) {
	t.Helper()
	require.NoError(t, enqueue(func(handle backend.Stream) error { got = handle; return nil }))
	return got
}

// TestCaptureTakesWorkOnly checks that work goes to a stream of the capture, and that
// marks, waits and queries stay on the stream itself.
func TestCaptureTakesWorkOnly(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	stream, err := dev.NewStream()
	require.NoError(t, err)
	other, err := dev.NewStream()
	require.NoError(t, err)
	watched := 0
	watch := streamwork.NewWatch(stream, func(handle backend.Stream) {
		assert.Equal(t, stream.Handle(), handle)
		watched++
	})
	watch.Arm()
	held := &thing{}
	captured, err := streamwork.Hold(stream, held)
	require.NoError(t, err)
	require.False(t, captured || stream.Capturing())
	require.NoError(t, streamwork.RefuseCapture(stream))

	capture, err := streamwork.BeginCapture(stream, func(h hook.Held) error { return h.Retain() })
	require.NoError(t, err)
	require.True(t, stream.Capturing())
	recording := handleOf(t, stream.Enqueue)
	assert.NotEqual(t, stream.Handle(), recording)
	assert.Zero(t, watched, "what is captured follows nothing on the stream")
	assert.Equal(t, stream.Handle(), handleOf(t, func(f func(backend.Stream) error) error { return streamwork.EnqueueUncaptured(stream, f) }))
	assert.Equal(t, 1, watched)
	captured, err = streamwork.Hold(stream, held)
	require.NoError(t, err)
	require.True(t, captured)
	assert.Equal(t, 1, held.references)

	// The driver would refuse all of this on the captured stream.
	event, err := stream.Record()
	require.NoError(t, err)
	require.NoError(t, event.Wait(t.Context()))
	require.NoError(t, stream.Wait(event))
	require.NoError(t, stream.WaitStream(other))
	require.NoError(t, other.WaitStream(stream))
	_, err = stream.Done()
	require.NoError(t, err)
	require.NoError(t, streamwork.SynchronizeUncaptured(stream, t.Context()))

	for name, err := range map[string]error{
		"synchronize": stream.Synchronize(t.Context()),
		"marked":      streamwork.EnqueueMarked(stream, event, func(backend.Stream) error { t.Error("called"); return nil }),
		"close":       stream.Close(),
		"refuse":      streamwork.RefuseCapture(stream),
		"twice":       func() error { _, err := streamwork.BeginCapture(stream, nil); return err }(),
	} {
		require.ErrorIs(t, err, device.ErrCapturing, name)
	}

	graph, err := capture.End()
	require.NoError(t, err, "nothing has lost the capture")
	require.NoError(t, dev.Driver().GraphDestroy(graph))
	_, err = capture.End()
	require.ErrorIs(t, err, device.ErrClosed)
	assert.Equal(t, stream.Handle(), handleOf(t, stream.Enqueue))
	require.NoError(t, streamwork.EnqueueMarked(stream, event, func(backend.Stream) error { return nil }))
	require.NoError(t, stream.Synchronize(t.Context()))
	require.NoError(t, errors.Join(event.Close(), other.Close(), stream.Close()))
	_, err = streamwork.BeginCapture(stream, nil)
	require.ErrorIs(t, err, device.ErrClosed)
}

func TestCaptureWithoutGraphs(t *testing.T) {
	for _, dev := range []*device.Device{launchtest.Open(t, &launchtest.GPU{NoGraphs: true}), openHost(t)} {
		stream, err := dev.NewStream()
		require.NoError(t, err)
		_, err = streamwork.BeginCapture(stream, nil)
		require.ErrorIs(t, err, device.ErrNotSupported)
		require.False(t, stream.Capturing())
		require.NoError(t, errors.Join(stream.Synchronize(t.Context()), stream.Close()))
	}
}

func openHost(t *testing.T) *device.Device {
	t.Helper()
	dev, err := device.Open("host")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

// TestLostCaptureEnds checks that an invalidated capture ends: the stream is no longer
// captured.
func TestLostCaptureEnds(t *testing.T) {
	dev := launchtest.Open(t, &launchtest.GPU{})
	stream, err := dev.NewStream()
	require.NoError(t, err)
	capture, err := streamwork.BeginCapture(stream, func(hook.Held) error { return nil })
	require.NoError(t, err)
	require.ErrorIs(t, stream.Enqueue(dev.Driver().StreamSynchronize), device.ErrCapturing)
	graph, err := capture.End()
	require.ErrorIs(t, err, device.ErrCapturing)
	require.Zero(t, graph)
	require.NoError(t, errors.Join(stream.Synchronize(t.Context()), stream.Close()))
}
