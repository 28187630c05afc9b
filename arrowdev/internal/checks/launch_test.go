package checks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestLaunch checks the launches that reach the driver of a GPU.
func TestLaunch(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: checks.Kernels()}
	dev := launchtest.Open(t, gpu)
	m := devicetest.Manager(t, dev, memory.Options{})
	offsets, err := memory.NewSlice[uint8](m, 1<<20, memory.AllocateOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, offsets.Release()) }()
	require.NoError(t, offsets.Fill(nil, 0))
	stream, err := dev.NewStream()
	require.NoError(t, err)
	defer stream.Close()

	b := checks.NewBatch(m, stream)
	b.Offsets("few", 4, checks.Elements{Buffer: offsets, First: 3, Count: 4096}, 77)
	b.Offsets("none", 4, checks.Elements{}, 77)
	b.Indices("many", checks.Integer{Width: 4, Signed: true}, checks.Elements{Buffer: offsets, Count: 1 << 18}, checks.Validity{}, 1<<40)
	_, err = b.Run(t.Context())
	require.NoError(t, err)

	launches := gpu.Launches()
	require.Len(t, launches, 2, "one a check, and none where there is nothing to look at")
	few, many := launches[0], launches[1]
	result := few.Uint64(5)
	assert.Equal(t, "check_ascending_32", few.Name)
	assert.Equal(t, []uint64{uint64(offsets.Pointer()) + 12, 4097, 4, 0, 77, result}, few.Slots)
	assert.Equal(t, backend.LaunchConfig{
		Grid: device.Dim3{X: 5}, Block: device.Dim3{X: 256}, Stream: stream.Handle(),
	}, few.Config, "1,025 loads of 16 bytes")
	assert.Equal(t, "check_indices", many.Name)
	assert.Equal(t, []uint64{uint64(offsets.Pointer()), 1 << 18, 4, 0, 0, 1 << 31, result + 24}, many.Slots)
	assert.Equal(t, device.Dim3{X: 8 * launchtest.Multiprocessors}, many.Config.Grid, "no more than are resident")

	// The block has recorded the use by the other stream.
	before := len(gpu.Calls())
	require.NoError(t, offsets.Block().OrderBefore(m.Stream()))
	assert.Len(t, gpu.Calls()[before:], 1)
	assert.Equal(t, 1, offsets.Block().References())
}

func TestMissingKernel(t *testing.T) {
	dev := launchtest.Open(t, &launchtest.GPU{})
	m := devicetest.Manager(t, dev, memory.Options{})
	ids, err := memory.NewSlice[uint8](m, 8, memory.AllocateOptions{})
	require.NoError(t, err)
	b := checks.NewBatch(m, nil)
	b.TypeIDs("ids", checks.Elements{Buffer: ids, Count: 8}, checks.TypeIDs{})
	_, err = b.Run(t.Context())
	require.ErrorIs(t, err, backend.ErrNotFound)
	require.NoError(t, ids.Release())
	require.Zero(t, m.Stats().InUse)
}
