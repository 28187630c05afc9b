package kernels_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// graphLaunches is the number of launches in the graphs of these tests.
const graphLaunches = 20

// launchAll launches a kernel several times. Each launch reads the output of the
// previous one.
func launchAll(f *kernels.Function, stream *device.Stream, values memory.Slice[uint32]) error {
	grid, block := kernels.GridFor(values.Len(), 64), device.Dim3{X: 64}
	for i := range graphLaunches {
		if err := f.Launch(stream, grid, block, 0, values, uint32(values.Len()), uint32(i)); err != nil {
			return err
		}
	}
	return nil
}

// TestGPUGraph replays a graph and compares with plain launches. Memory is allocated
// and released during the capture, and on another stream during the replays.
func TestGPUGraph(t *testing.T) {
	const n, replays = 100_000, 100
	dev, mgr, module := openGPU(t)
	f := function(t, module, "add_scalar")
	plain, input := newSlice[uint32](t, mgr, n), newSlice[uint32](t, mgr, n)
	require.NoError(t, plain.Fill(nil, 3))
	require.NoError(t, input.Fill(nil, 3))
	before := mgr.Stats()

	var result memory.Slice[uint32]
	graph, err := kernels.Capture(dev, func(stream *device.Stream) (err error) {
		if err := input.Block().OrderBefore(stream); err != nil {
			return err
		}
		if result, err = memory.NewSlice[uint32](mgr, n, memory.AllocateOptions{Stream: stream}); err != nil {
			return err
		}
		between, err := memory.NewSlice[uint32](mgr, n, memory.AllocateOptions{Stream: stream})
		if err != nil {
			return err
		}
		return errors.Join(between.CopyFrom(stream, input), launchAll(f, stream, between),
			result.Fill(stream, 0), result.CopyFrom(stream, between), between.Release(), launchAll(f, stream, input))
	})
	require.NoError(t, err)
	inUse := mgr.Stats()
	assert.Equal(t, before.Blocks+2, inUse.Blocks, "what was released in the capture is held")
	assert.GreaterOrEqual(t, inUse.InUse, before.InUse+2*4*n)
	assert.Equal(t, slices.Repeat([]uint32{3}, n), download(t, input), "nothing has run yet")

	stream, other := newStream(t, dev), newStream(t, dev)
	for i := range replays {
		require.NoError(t, launchAll(f, mgr.Stream(), plain))
		require.NoError(t, graph.Launch([]*device.Stream{stream, nil, other}[i%3]))
		// Allocations on another stream must not get the graph's memory.
		mine, err := memory.NewSlice[uint32](mgr, n, memory.AllocateOptions{Stream: other})
		require.NoError(t, err)
		require.NoError(t, errors.Join(mine.Fill(other, 0xdeadbeef), mine.Release()))
	}
	require.NoError(t, input.Block().OrderBefore(mgr.Stream()))
	require.NoError(t, result.Block().OrderBefore(graph.Stream()))
	assert.Equal(t, download(t, plain), download(t, input))
	// The last launch computed the result from the input's previous value.
	const perLaunch = graphLaunches * (graphLaunches - 1) / 2
	assert.Equal(t, slices.Repeat([]uint32{3 + replays*perLaunch}, n), download(t, result))

	require.NoError(t, graph.Launch(stream))
	require.NoError(t, graph.Close(), "with a launch under way")
	assert.Equal(t, before.Blocks+1, mgr.Stats().Blocks, "the result is the caller's")
	require.NoError(t, result.Release())
	assert.Equal(t, before.InUse, mgr.Stats().InUse)
	require.NoError(t, stream.Synchronize(t.Context()))
}

// TestGPUGraphOfNewMemory captures right after work on other streams, so that the
// allocator must order reused memory.
func TestGPUGraphOfNewMemory(t *testing.T) {
	const n = 1 << 20
	dev, mgr, module := openGPU(t)
	f := function(t, module, "add_scalar")
	other := newStream(t, dev)
	for round := range 20 {
		used, err := memory.NewSlice[uint32](mgr, n, memory.AllocateOptions{Stream: other})
		require.NoError(t, err)
		require.NoError(t, errors.Join(used.Fill(other, 1), launchAll(f, other, used), used.Release()))
		var values memory.Slice[uint32]
		graph, err := kernels.Capture(dev, func(stream *device.Stream) (err error) {
			if values, err = memory.NewSlice[uint32](mgr, n, memory.AllocateOptions{Stream: stream}); err != nil {
				return err
			}
			return errors.Join(values.Fill(stream, uint32(round)), launchAll(f, stream, values))
		})
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, graph.Launch(nil))
		}
		got := download(t, values)
		require.Equal(t, slices.Repeat([]uint32{uint32(round) + 190}, n), got)
		require.NoError(t, errors.Join(graph.Close(), values.Release()))
	}
}

// TestGPULostCapture waits for the device during a capture: Capture returns an error
// and no graph.
func TestGPULostCapture(t *testing.T) {
	dev, mgr, module := openGPU(t)
	values := newSlice[uint32](t, mgr, 100)
	require.NoError(t, values.Fill(nil, 1))
	_, err := kernels.Capture(dev, func(stream *device.Stream) error {
		return errors.Join(launchAll(function(t, module, "add_scalar"), stream, values), dev.Synchronize(t.Context()))
	})
	require.ErrorIs(t, err, device.ErrCapturing)
	_, err = kernels.Capture(dev, func(stream *device.Stream) error {
		return values.Download(t.Context(), stream, make([]uint32, 100))
	})
	require.ErrorIs(t, err, device.ErrCapturing)
	require.NoError(t, dev.Synchronize(t.Context()))
	assert.Equal(t, slices.Repeat([]uint32{1}, 100), download(t, values))
	assert.Equal(t, 1, values.Block().References())
}

// BenchmarkGraph compares a graph of launches with the launches.
func BenchmarkGraph(b *testing.B) {
	const n = 1000
	dev, mgr, module := openGPU(b)
	f := function(b, module, "add_scalar")
	values := newSlice[uint32](b, mgr, n)
	require.NoError(b, values.Fill(nil, 0))
	graph, err := kernels.Capture(dev, func(stream *device.Stream) error { return launchAll(f, stream, values) })
	require.NoError(b, err)
	defer func() { require.NoError(b, graph.Close()) }()
	stream := mgr.Stream()
	run := func(name string, wait bool, work func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := work(); err != nil {
					b.Fatal(err)
				}
				// Beyond some thousand launches the driver makes the caller wait.
				if wait || i%32 == 31 {
					if err := stream.Synchronize(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	for _, wait := range []bool{false, true} {
		suffix := map[bool]string{true: ", and wait"}[wait]
		run("20 launches"+suffix, wait, func() error { return launchAll(f, stream, values) })
		run("graph of 20"+suffix, wait, func() error { return graph.Launch(stream) })
	}
}
