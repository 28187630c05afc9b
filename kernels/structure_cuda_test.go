package kernels_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestStructInAKernel passes a struct with padding and a nested struct to a kernel that
// was compiled from C++.
func TestStructInAKernel(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		module, err := kernels.LoadCached(dev, launchPTX)
		require.NoError(t, err)
		testStruct(t, mgr, module)
	})
}

func testStruct(t *testing.T, mgr *memory.Manager, module *kernels.Module) {
	input, output := newSlice[uint32](t, mgr, 2), newSlice[uint32](t, mgr, 9)
	require.NoError(t, input.Upload(t.Context(), nil, []uint32{1, 22}))
	f := function(t, module, "fields")
	arguments := []any{true, input, uint16(333), kernels.Struct(uint16(444), uint8(55)), kernels.Output(output),
		float32(3.5), [3]uint8{6, 7, 8}, &kernels.Words{Values: []uint64{9 << 32, 10}}}
	require.NoError(t, f.Launch(nil, device.Dim3{}, device.Dim3{X: 32}, 0, kernels.Struct(arguments...)))
	assert.Equal(t, []uint32{1, 22, 333, 444, 55, 7, 6 + 256*8, 9, 10}, download(t, output))

	arguments = arguments[:len(arguments)-1]
	err := f.Launch(nil, device.Dim3{}, device.Dim3{X: 32}, 0, kernels.Struct(arguments...))
	if err != nil { // drivers since CUDA 12.4 report parameters
		require.ErrorIs(t, err, device.ErrInvalidValue)
		assert.ErrorContains(t, err, "(a struct of 7 fields), expected 56")
	}
}

// TestGPUCompiledCode keeps compiled code on disk and launches it.
func TestGPUCompiledCode(t *testing.T) {
	dev := devicetest.Open(t, "cuda:0")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	directory := t.TempDir()
	for range 2 {
		module, err := kernels.LoadWith(dev, launchPTX, kernels.LoadOptions{CacheDirectory: directory})
		require.NoError(t, err)
		require.NoError(t, module.CacheFailure())
		values := newSlice[uint32](t, mgr, 100)
		require.NoError(t, values.Fill(nil, 1))
		require.NoError(t, launchAll(function(t, module, "add_scalar"), nil, values))
		assert.EqualValues(t, 191, download(t, values)[99])
		require.NoError(t, module.Close())
	}
	assert.Len(t, filesIn(t, directory), 1)
}

// BenchmarkLoad compares loading from text and from the cache. CUDA_CACHE_DISABLE=1
// turns the driver's own cache off.
func BenchmarkLoad(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	directory := b.TempDir()
	for _, each := range []struct{ name, directory string }{{"text", ""}, {"kept", directory}} {
		b.Run(each.name, func(b *testing.B) {
			for b.Loop() {
				module, err := kernels.LoadWith(dev, launchPTX, kernels.LoadOptions{CacheDirectory: each.directory})
				require.NoError(b, err)
				require.NoError(b, module.Close())
			}
		})
	}
}
