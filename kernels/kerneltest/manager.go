package kerneltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Manager makes a manager of a device's memory until the end of the test. The test fails if
// memory is still held then. On an emulated device each block is a separate allocation, unless
// the options name a resource, so that the emulator can check its bounds.
func Manager(t testing.TB, dev *device.Device, options memory.Options) *memory.Manager {
	t.Helper()
	options.TrackAllocations = true
	if options.Resource == nil && Emulated(dev) {
		options.Resource = memory.NewDriverResource(dev)
	}
	mgr, err := memory.NewManager(dev, options)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, mgr.Stats().Leaks, "blocks were collected without being released")
		require.NoError(t, mgr.Close())
	})
	return mgr
}
