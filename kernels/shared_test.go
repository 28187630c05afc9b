package kernels_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
)

func countCalls(gpu *launchtest.GPU, name string) int {
	count := 0
	for _, call := range gpu.Calls() {
		if strings.HasPrefix(call, name) {
			count++
		}
	}
	return count
}

func TestLoadCachedLoadsOnce(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev := launchtest.Open(t, gpu)
	var callers sync.WaitGroup
	modules := make([]*kernels.Module, 16)
	functions := make([]*kernels.Function, 16)
	for i := range modules {
		callers.Go(func() {
			var err error
			if i%2 == 0 {
				modules[i], err = kernels.LoadCached(dev, "code")
			} else {
				modules[i], err = kernels.LoadCached(dev, []byte("code"))
			}
			if assert.NoError(t, err) {
				functions[i], err = modules[i].Function("k")
				assert.NoError(t, err)
			}
		})
	}
	callers.Wait()
	for i := range modules {
		assert.Same(t, modules[0], modules[i])
		assert.Same(t, functions[0], functions[i])
	}
	assert.Equal(t, 1, countCalls(gpu, "ModuleLoad"))
	assert.Equal(t, 1, countCalls(gpu, "ModuleFunction"))

	require.ErrorIs(t, modules[0].Close(), kernels.ErrShared)
	require.NoError(t, functions[0].Launch(dev.DefaultStream(), device.Dim3{}, device.Dim3{}, 0), "it is still loaded")
	assert.Zero(t, countCalls(gpu, "ModuleUnload"))
}

func TestLoadCachedKeepsApart(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	load := func(dev *device.Device, code string, options ...kernels.LoadOptions) *kernels.Module {
		module, err := kernels.LoadCached(dev, code, options...)
		require.NoError(t, err)
		return module
	}
	plain := load(dev, "code")
	assert.Same(t, plain, load(dev, "code", kernels.LoadOptions{}))
	assert.NotSame(t, plain, load(dev, "other code"))
	assert.NotSame(t, plain, load(dev, "code", kernels.LoadOptions{Strict: true}))
	assert.NotSame(t, plain, load(launchtest.Open(t, &launchtest.GPU{}), "code"))
	assert.Equal(t, 3, countCalls(gpu, "ModuleLoad"))
}

func TestLoadCachedRefusesSeveralOptions(t *testing.T) {
	_, err := kernels.LoadCached(launchtest.Open(t, &launchtest.GPU{}), "code", kernels.LoadOptions{}, kernels.LoadOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
}

func TestLoadCachedTriesAgainAfterAnError(t *testing.T) {
	gpu := &launchtest.GPU{}
	dev := launchtest.Open(t, gpu)
	for range 2 {
		_, err := kernels.LoadCached(dev, "")
		require.ErrorIs(t, err, backend.ErrInvalidCode)
	}
	assert.Equal(t, 2, countCalls(gpu, "ModuleLoad"))
	_, err := kernels.LoadCached(nil, "code")
	require.ErrorIs(t, err, device.ErrInvalidValue)
	host, err := device.Open("host")
	require.NoError(t, err)
	defer host.Close()
	_, err = kernels.LoadCached(host, "code")
	require.ErrorIs(t, err, device.ErrNotSupported)
}

// BenchmarkLoadCached finds code of the size that generated kernels have.
func BenchmarkLoadCached(b *testing.B) {
	dev := launchtest.Open(b, &launchtest.GPU{})
	code := strings.Repeat("add.f64 %fd1, %fd2, %fd3;\n", 800)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := kernels.LoadCached(dev, code); err != nil {
			b.Fatal(err)
		}
	}
}
