package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

func TestWatchSeesWorkAndNotMarks(t *testing.T) {
	dev, err := device.Open("host")
	require.NoError(t, err)
	stream, err := dev.NewStream()
	require.NoError(t, err)
	calls := 0
	watch := streamwork.NewWatch(stream, func(handle backend.Stream) {
		calls++
		event, err := streamwork.RecordWithin(stream, handle)
		require.NoError(t, err)
		require.NoError(t, event.Close())
	})
	work := func() { require.NoError(t, stream.Enqueue(func(backend.Stream) error { return nil })) }

	work()
	require.Zero(t, calls, "it is not armed")
	watch.Arm()
	watch.Arm()
	event, err := stream.Record()
	require.NoError(t, err)
	require.NoError(t, event.Record(stream))
	require.Zero(t, calls, "a mark is no work")
	work()
	work()
	require.Equal(t, 1, calls, "a call disarms it")
	watch.Arm()
	require.NoError(t, stream.Wait(event))
	require.Equal(t, 2, calls, "a wait delays what follows")
	other := streamwork.NewWatch(stream, func(backend.Stream) { calls += 10 })
	other.Arm()
	watch.Arm()
	watch.Stop()
	watch.Stop()
	work()
	require.Equal(t, 12, calls, "one that was stopped is told no more")
	other.Stop()
	other.Arm()
	work()
	require.Equal(t, 12, calls)
	require.NoError(t, event.Close())
	require.NoError(t, stream.Close())
	require.NoError(t, dev.Close())
}
