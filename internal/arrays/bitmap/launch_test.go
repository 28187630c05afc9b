package bitmap_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/arrays/bitmap"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestLaunch checks the launches that reach the driver of a GPU.
func TestLaunch(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"bitmap_expand": {}, "bitmap_pack": {}}}
	dev := launchtest.Open(t, gpu)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const n = 100_000
	bits, values := newArena(t, mgr, n/8+1).memory, newArena(t, mgr, n).memory
	other, err := dev.NewStream()
	require.NoError(t, err)
	defer other.Close()

	require.NoError(t, bitmap.Expand(nil, values, bits, 5, n))
	require.NoError(t, bitmap.Pack(other, bits, values, n))

	launches := gpu.Launches()
	require.Len(t, launches, 2)
	to, from := uint64(values.Pointer()), uint64(bits.Pointer())
	assert.Equal(t, "bitmap_expand", launches[0].Name)
	assert.Equal(t, []uint64{to, from, 5, n}, launches[0].Slots)
	assert.Equal(t, []uint32{0, 1, 2, 3}, launches[0].Starts)
	assert.Equal(t, backend.LaunchConfig{
		Grid: device.Dim3{X: 25}, Block: device.Dim3{X: 256}, Stream: mgr.Stream().Handle(),
	}, launches[0].Config, "6,250 threads of 16 bytes each")
	assert.Equal(t, "bitmap_pack", launches[1].Name)
	assert.Equal(t, []uint64{from, to, n}, launches[1].Slots)
	assert.Equal(t, []uint32{0, 1, 2}, launches[1].Starts)
	assert.Equal(t, device.Dim3{X: 13}, launches[1].Config.Grid)
	assert.Equal(t, other.Handle(), launches[1].Config.Stream)

	// Both blocks have recorded the use by the other stream.
	for _, block := range []*memory.Block{bits.Block(), values.Block()} {
		before := len(gpu.Calls())
		require.NoError(t, block.OrderBefore(mgr.Stream()))
		assert.Len(t, gpu.Calls()[before:], 1)
		assert.Equal(t, 1, block.References())
	}

	gpu.LaunchError = device.ErrDeviceLost
	require.ErrorIs(t, bitmap.Pack(nil, bits, values, n), device.ErrDeviceLost)
	assert.Equal(t, 1, bits.Block().References())
}

func TestMissingKernel(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	bits, values := newArena(t, mgr, 1).memory, newArena(t, mgr, 8).memory
	require.ErrorIs(t, bitmap.Pack(nil, bits, values, 8), backend.ErrNotFound)
	assert.Contains(t, gpu.Calls(), "ModuleUnload", "what was loaded is given back")
}
