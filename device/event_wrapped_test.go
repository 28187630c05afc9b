package device_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// Another library's event is waited for, on the device and by the host, and left
// alone.
func TestAnEventOfAnotherLibrary(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		driver := dev.Driver()
		handle, err := driver.EventCreate(false)
		require.NoError(t, err)
		producer, err := dev.NewStream()
		require.NoError(t, err)
		consumer, err := dev.NewStream()
		require.NoError(t, err)
		const n = 1 << 20
		memory, err := driver.Alloc(2 * n)
		require.NoError(t, err)
		require.NoError(t, driver.MemsetAsync(memory, 7, 1, n, producer.Handle()))
		require.NoError(t, driver.EventRecord(handle, producer.Handle()))

		event := dev.WrapEvent(handle)
		require.Equal(t, handle, event.Handle())
		require.NoError(t, consumer.Wait(event))
		require.NoError(t, driver.CopyOnDeviceAsync(memory.Add(n), memory, n, consumer.Handle()))
		require.NoError(t, event.Wait(t.Context()))
		done, err := event.Done()
		require.NoError(t, err)
		require.True(t, done)
		require.NoError(t, consumer.Synchronize(t.Context()))
		var last [1]byte
		require.NoError(t, driver.CopyToHost(unsafe.Pointer(&last[0]), memory.Add(2*n-1), 1))
		require.EqualValues(t, 7, last[0])

		require.NoError(t, event.Close())
		require.NoError(t, event.Close())
		next, err := dev.NewEvent()
		require.NoError(t, err)
		require.NotEqual(t, handle, next.Handle(), "the handle is the other library's")
		require.NoError(t, next.Close())
		require.NoError(t, producer.Close())
		require.NoError(t, consumer.Close())
		require.NoError(t, driver.Free(memory))
		require.NoError(t, driver.EventDestroy(handle))
	})
}
