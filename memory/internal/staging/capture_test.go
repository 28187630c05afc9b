package staging

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
)

// During a capture, quiesce waits for the stream's own work, and not for the stream
// that replaces it in the capture.
func TestQuiesceDuringACapture(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	stream, err := dev.NewStream()
	require.NoError(t, err)
	release, err := gpu.Device.(interface {
		HoldStream(backend.Stream) (func(), error)
	}).HoldStream(stream.Handle())
	require.NoError(t, err)
	capture, err := streamwork.BeginCapture(stream, func(hook.Held) error { return nil })
	require.NoError(t, err)

	done := make(chan error, 1)
	go func() { done <- quiesce(stream) }()
	go release()
	require.NoError(t, <-done)
	idle, err := gpu.Device.StreamQuery(stream.Handle())
	require.NoError(t, err)
	require.True(t, idle, "the stream's own work was not waited for")

	graph, err := capture.End()
	require.NoError(t, err, "the capture was lost")
	require.NoError(t, dev.Driver().GraphDestroy(graph))
	require.NoError(t, stream.Close())
}
