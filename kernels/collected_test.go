package kernels_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
)

// collectUntil loads other code and runs the collector until that number of modules is
// unloaded.
func collectUntil(t *testing.T, gpu *launchtest.GPU, dev *device.Device, unloaded int) {
	await.Collected(t, func() bool {
		_, err := kernels.LoadCollected(dev, "other")
		require.NoError(t, err)
		return countCalls(gpu, "ModuleUnload") >= unloaded
	}, "%d modules are unloaded", unloaded)
}

func TestCollectedCodeIsUnloaded(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev := launchtest.Open(t, gpu)
	kept, err := kernels.LoadCollected(dev, "kept")
	require.NoError(t, err)
	f, err := kept.Function("k")
	require.NoError(t, err)
	require.ErrorIs(t, kept.Close(), kernels.ErrShared)
	collectUntil(t, gpu, dev, 20) // the modules that collectUntil loads
	require.NoError(t, f.Launch(dev.DefaultStream(), device.Dim3{}, device.Dim3{}, 0), "what is referred to stays")
}

// TestGraphsKeepCollectedCode captures a launch and forgets the module.
func TestGraphsKeepCollectedCode(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev := launchtest.Open(t, gpu)
	var gone atomic.Bool
	graph, err := kernels.Capture(dev, func(stream *device.Stream) error {
		module, err := kernels.LoadCollected(dev, "captured")
		if err != nil {
			return err
		}
		f, err := module.Function("k")
		if err != nil {
			return err
		}
		runtime.AddCleanup(module, func(struct{}) { gone.Store(true) }, struct{}{})
		return f.Launch(stream, device.Dim3{}, device.Dim3{}, 0)
	})
	require.NoError(t, err)
	collectUntil(t, gpu, dev, 5)
	require.False(t, gone.Load(), "the graph refers to it")
	require.NoError(t, graph.Launch(nil))
	require.NoError(t, graph.Close())
	for unloaded := 6; !gone.Load(); unloaded++ {
		collectUntil(t, gpu, dev, unloaded)
	}
}

// TestCodeIsKeptDuringCaptures unloads nothing while a stream is captured.
func TestCodeIsKeptDuringCaptures(t *testing.T) {
	gpu := &launchtest.GPU{Kernels: map[string]launchtest.Kernel{"k": {}}}
	dev := launchtest.Open(t, gpu)
	graph, err := kernels.Capture(dev, func(stream *device.Stream) error {
		const modules = 20
		var gone atomic.Int64
		for range modules {
			module, err := kernels.LoadCollected(dev, "code")
			if err != nil {
				return err
			}
			runtime.AddCleanup(module, func(struct{}) { gone.Add(1) }, struct{}{})
		}
		await.Collected(t, func() bool { return gone.Load() >= modules/2 }, "half of the modules are collected")
		if _, err := kernels.LoadCollected(dev, "code"); err != nil {
			return err
		}
		require.Zero(t, countCalls(gpu, "ModuleUnload"))
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, graph.Close())
	collectUntil(t, gpu, dev, 5)
}
