package kernels_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// A kernel may read read-only memory but not write to it.
func TestOutputsAreNotReadOnly(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {Parameters: []int{8, 8}}}}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{Strict: true})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	f, own := function(t, module, "k"), newSlice[uint8](t, mgr, 80)
	pointer, err := dev.Driver().Alloc(80)
	require.NoError(t, err)
	block, err := mgr.Adopt(memory.ForeignMemory{Pointer: pointer, Bytes: 80, Kind: device.MemoryDevice, ReadOnly: true, Ordered: true})
	require.NoError(t, err)
	foreign, err := memory.View[uint8](block, 0, 80)
	require.NoError(t, err)
	c, err := column.New(column.Data{Type: arrow.PrimitiveTypes.Int64, Length: 10, Buffers: []column.Bytes{{}, foreign}})
	require.NoError(t, err)
	one := device.Dim3{X: 1}

	require.NoError(t, f.Launch(nil, one, one, 0, kernels.Output(own), foreign))
	require.NoError(t, f.Launch(nil, one, one, 0, kernels.Output(own.Block()), c))
	for _, readOnly := range []memory.Region{foreign, block, c} {
		err := f.Launch(nil, one, one, 0, own, kernels.Output(readOnly))
		require.ErrorIs(t, err, memory.ErrReadOnly)
		var argument *kernels.ArgumentError
		require.ErrorAs(t, err, &argument)
		assert.Equal(t, 1, argument.Index)
	}
	require.ErrorIs(t, f.Launch(nil, one, one, 0, own, kernels.Output(nil)), memory.ErrReleased)
	require.Len(t, gpu.Launches(), 2)
	assert.Equal(t, uint64(own.Pointer()), gpu.Launches()[0].Uint64(0))
	assert.Equal(t, uint64(pointer), gpu.Launches()[1].Uint64(1))

	require.NoError(t, c.Release())
	require.NoError(t, block.Release())
	require.NoError(t, dev.Driver().Free(pointer))
}
