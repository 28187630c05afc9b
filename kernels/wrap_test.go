package kernels_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
)

// TestWrapModule launches code through a second Module of the same handle. Its Close
// does not unload the code.
func TestWrapModule(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"f": {Parameters: []int{4}}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{})
	wrapped, err := kernels.WrapModule(dev, module.Handle(), kernels.LoadOptions{Strict: true})
	require.NoError(t, err)
	assert.Equal(t, module.Handle(), wrapped.Handle())
	f := function(t, wrapped, "f")
	assert.NotZero(t, f.Handle())
	one := device.Dim3{X: 1}
	require.NoError(t, f.Launch(dev.DefaultStream(), one, one, 0, uint32(7)))
	require.NoError(t, wrapped.Close())
	require.ErrorIs(t, wrapped.Close(), device.ErrClosed)
	require.ErrorIs(t, f.Launch(dev.DefaultStream(), one, one, 0, uint32(7)), device.ErrClosed)
	require.NoError(t, function(t, module, "f").Launch(dev.DefaultStream(), one, one, 0, uint32(8)), "it is still loaded")

	for name, try := range map[string]struct {
		dev    *device.Device
		handle backend.Module
	}{"no device": {nil, 1}, "no handle": {dev, 0}} {
		_, err := kernels.WrapModule(try.dev, try.handle, kernels.LoadOptions{})
		require.ErrorIs(t, err, device.ErrInvalidValue, name)
	}
}
