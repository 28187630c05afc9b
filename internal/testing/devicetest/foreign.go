package devicetest

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
)

// Foreign allocates device memory outside all managers, until the end of the test.
func Foreign(t testing.TB, dev *device.Device, bytes []byte) device.Pointer {
	t.Helper()
	driver := dev.Driver()
	pointer, err := driver.Alloc(uint64(max(len(bytes), 1)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, driver.Free(pointer)) })
	if len(bytes) > 0 {
		require.NoError(t, driver.CopyToDevice(pointer, unsafe.Pointer(&bytes[0]), uint64(len(bytes))))
	}
	return pointer
}
