package kernels_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
)

func TestGrid(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {MaxThreads: 512}}}
	_, module := loadKernels(t, gpu, kernels.LoadOptions{})
	f := function(t, module, "k")
	const all = launchtest.Multiprocessors * 2048 / 256 // the blocks of 256 threads at a time
	for _, test := range []struct {
		n, perThread int
		want         uint32
	}{
		{-5, 1, 1}, {0, 1, 1}, {1, 1, 1}, {256, 1, 1}, {257, 1, 2}, {257, 2, 1}, {512, 2, 1}, {513, 2, 2},
		{256 * all, 1, all}, {256*all + 1, 1, all}, {256*all*4 - 256, 4, all}, {256 * (all - 1) * 4, 4, all - 1},
		{math.MaxInt, 1, all}, {math.MaxInt, math.MaxInt, 1},
	} {
		grid, err := f.Grid(test.n, 256, test.perThread, 0)
		require.NoError(t, err)
		assert.Equal(t, device.Dim3{X: test.want}, grid, "%d, %d each", test.n, test.perThread)
	}
	assert.Equal(t, 1, countCalls(gpu, "Occupancy"), "the driver is asked once")
	_, err := f.Grid(1, 256, 1, 64<<10)
	require.NoError(t, err)
	assert.Equal(t, 2, countCalls(gpu, "Occupancy"), "and once for another shape")
	assert.Contains(t, gpu.Calls(), "FunctionSetAttribute(k, 8, 65536)")

	for name, call := range map[string]func() (device.Dim3, error){
		"no threads":       func() (device.Dim3, error) { return f.Grid(1, 0, 1, 0) },
		"no elements":      func() (device.Dim3, error) { return f.Grid(1, 256, 0, 0) },
		"too many threads": func() (device.Dim3, error) { return f.Grid(1, 513, 1, 0) },
		"too much shared":  func() (device.Dim3, error) { return f.Grid(1, 256, 1, launchtest.SharedBytesOptIn+1) },
	} {
		_, err := call()
		require.ErrorIs(t, err, device.ErrInvalidValue, name)
		assert.ErrorContains(t, err, "kernels: grid of k: ", name)
	}
	require.NoError(t, module.Close())
	_, err = f.Grid(1, 128, 1, 0)
	require.ErrorIs(t, err, device.ErrClosed)
}

func TestGridOfABlockThatDoesNotFit(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {MaxThreads: 4096}}}
	_, module := loadKernels(t, gpu, kernels.LoadOptions{})
	_, err := function(t, module, "k").Grid(1, 4096, 1, 0)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	assert.ErrorContains(t, err, "does not fit on a multiprocessor")
}
