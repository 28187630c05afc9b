package kernels_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// adding returns a kernel that adds a number to bytes.
func adding() map[string]launchtest.Kernel {
	return map[string]launchtest.Kernel{"add": {Parameters: []int{8, 4, 1}, Run: func(l launchtest.Launch) {
		values := address.Bytes(uintptr(l.Uint64(0)), uint64(uint32(l.Uint64(1))))
		for i := range values {
			values[i] += byte(l.Uint64(2))
		}
	}}, "pair": {Parameters: []int{8, 8}}}
}

// graphScene is a device that is configured as a GPU, and a kernel to capture.
type graphScene struct {
	gpu *launchtest.GPU
	dev *device.Device
	mgr *memory.Manager
	f   *kernels.Function
}

func newGraphScene(t *testing.T) graphScene {
	gpu := &launchtest.GPU{Kernels: adding()}
	dev, module := loadKernels(t, gpu, kernels.LoadOptions{Strict: true})
	s := graphScene{gpu, dev, devicetest.Manager(t, dev, memory.Options{}), function(t, module, "add")}
	t.Cleanup(func() { require.Zero(t, gpu.Graphs(), "graphs that were not destroyed") })
	return s
}

func (s graphScene) add(stream *device.Stream, values memory.Slice[uint8], n byte) error {
	return s.f.Launch(stream, device.Dim3{}, device.Dim3{X: 32}, 0, values, uint32(values.Len()), n)
}

func TestGraphReplays(t *testing.T) {
	s := newGraphScene(t)
	input := newSlice[uint8](t, s.mgr, 50)
	require.NoError(t, input.Fill(nil, 1))
	var result memory.Slice[uint8]
	graph, err := kernels.Capture(s.dev, func(stream *device.Stream) (err error) {
		if result, err = memory.NewSlice[uint8](s.mgr, 50, memory.AllocateOptions{Stream: stream, Tag: "result"}); err != nil {
			return err
		}
		// Intermediate memory, released immediately.
		between, err := memory.NewSlice[uint8](s.mgr, 50, memory.AllocateOptions{Stream: stream})
		if err != nil {
			return err
		}
		return errors.Join(between.Fill(stream, 3), s.add(stream, between, 4),
			result.CopyFrom(stream, input), s.add(stream, result, 10),
			s.add(stream, input, 1), between.Release())
	})
	require.NoError(t, err)
	assert.Empty(t, s.gpu.Launches(), "nothing runs before the graph is launched")
	assert.EqualValues(t, 3, s.mgr.Stats().Blocks, "what was released in the capture is held")
	assert.Equal(t, 2, input.Block().References())

	other := newStream(t, s.dev)
	for i := range 6 {
		stream := []*device.Stream{nil, other, s.mgr.Stream()}[i%3]
		require.NoError(t, graph.Launch(stream))
		require.NoError(t, result.Block().OrderBefore(graph.Stream()))
		assert.Equal(t, slices.Repeat([]byte{byte(11 + i)}, 50), download(t, result))
	}
	assert.Equal(t, 6, countCalls(s.gpu, "GraphLaunch"))
	assert.Len(t, s.gpu.Launches(), 18)

	require.NoError(t, graph.Close())
	require.ErrorIs(t, graph.Close(), device.ErrClosed)
	require.ErrorIs(t, graph.Launch(nil), device.ErrClosed)
	assert.EqualValues(t, 2, s.mgr.Stats().Blocks)
	assert.Equal(t, 1, input.Block().References())
	assert.Equal(t, slices.Repeat([]byte{16}, 50), func() []byte {
		values := make([]byte, 50)
		require.NoError(t, result.Block().OrderBefore(s.mgr.Stream()))
		require.NoError(t, result.Download(t.Context(), s.mgr.Stream(), values))
		return values
	}(), "results outlive the graph")
	require.NoError(t, result.Release())
}

// TestGraphRecordsUses frees memory after a launch of the graph: the free waits for the
// stream of that launch.
func TestGraphRecordsUses(t *testing.T) {
	s := newGraphScene(t)
	pool, err := memory.NewStreamOrderedResource(s.dev, memory.StreamOrderedOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	mgr := devicetest.Manager(t, s.dev, memory.Options{Resource: pool})
	values, err := memory.NewSlice[uint8](mgr, 8, memory.AllocateOptions{})
	require.NoError(t, err)
	graph, err := kernels.Capture(s.dev, func(stream *device.Stream) error { return s.add(stream, values, 1) })
	require.NoError(t, err)
	require.NoError(t, values.Release())
	assert.Zero(t, mgr.Stats().Frees)
	other := newStream(t, s.dev)
	require.NoError(t, graph.Launch(other))
	before := len(s.gpu.Calls())
	require.NoError(t, graph.Close())
	calls := s.gpu.Calls()[before:]
	wait, free := slices.Index(calls, eventRecord(other)), slices.Index(calls, "FreeAsync("+handle(mgr.Stream())+")")
	assert.GreaterOrEqual(t, wait, 0, "%v", calls)
	assert.Greater(t, free, wait, "%v", calls)
}

// TestCaptureAllocates allocates and releases memory of every resource during a
// capture, including memory that was freed on another stream with pending work.
func TestCaptureAllocates(t *testing.T) {
	for name, resource := range map[string]func(dev *device.Device) (memory.Resource, error){
		"caching": func(dev *device.Device) (memory.Resource, error) {
			return memory.NewCachingResource(dev, memory.CachingOptions{})
		},
		"ordered": func(dev *device.Device) (memory.Resource, error) {
			return memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
		},
		"driver": func(dev *device.Device) (memory.Resource, error) { return memory.NewDriverResource(dev), nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newGraphScene(t)
			upstream, err := resource(s.dev)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, upstream.Close()) })
			mgr := devicetest.Manager(t, s.dev, memory.Options{Resource: upstream})
			other := newStream(t, s.dev)
			take := func(stream *device.Stream, launch *device.Stream) error {
				values, err := memory.NewSlice[uint8](mgr, 1000, memory.AllocateOptions{Stream: stream})
				if err != nil {
					return err
				}
				if launch == nil {
					return values.Release()
				}
				return errors.Join(values.Block().OrderBefore(launch), s.add(launch, values, 1), values.Release())
			}
			require.NoError(t, take(other, other))
			graph, err := kernels.Capture(s.dev, func(stream *device.Stream) error {
				for range 3 {
					if err := errors.Join(take(stream, nil), take(stream, stream), take(other, other), take(other, stream)); err != nil {
						return err
					}
				}
				return nil
			})
			require.NoError(t, err)
			assert.EqualValues(t, 6, mgr.Stats().Blocks, "those that captured work uses")
			require.NoError(t, graph.Launch(nil))
			require.NoError(t, graph.Launch(other))
			require.NoError(t, graph.Close())
			assert.Zero(t, mgr.Stats().Blocks)
		})
	}
}

func TestWhatCannotBeCaptured(t *testing.T) {
	s := newGraphScene(t)
	values := newSlice[uint8](t, s.mgr, 50)
	require.NoError(t, values.Fill(nil, 0))
	host := make([]byte, 50)
	pair, err := kernels.Load(s.dev, "code")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pair.Close()) })
	graph, err := kernels.Capture(s.dev, func(*device.Stream) error { return nil })
	require.NoError(t, err, "a graph of nothing")
	defer func() { require.NoError(t, graph.Close()) }()
	require.NoError(t, graph.Launch(nil))
	for name, f := range map[string]func(stream *device.Stream) error{
		"download":    func(stream *device.Stream) error { return values.Download(context.Background(), stream, host) },
		"upload":      func(stream *device.Stream) error { return values.Upload(context.Background(), stream, host) },
		"synchronize": func(stream *device.Stream) error { return stream.Synchronize(context.Background()) },
		"close":       func(stream *device.Stream) error { return stream.Close() },
		"graph":       func(stream *device.Stream) error { return graph.Launch(stream) },
		"twice": func(stream *device.Stream) error {
			_, err := streamwork.BeginCapture(stream, nil)
			return err
		},
		"launch elsewhere": func(stream *device.Stream) error {
			own, err := memory.NewSlice[uint8](s.mgr, 50, memory.AllocateOptions{Stream: stream})
			if err != nil {
				return err
			}
			// The stream is nil, so it is the first argument's stream.
			err = function(t, pair, "pair").Launch(nil, device.Dim3{}, device.Dim3{}, 0, values, own)
			return errors.Join(err, own.Release())
		},
		"device, and the error is lost": func(*device.Stream) error {
			_ = s.dev.Synchronize(context.Background())
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			failed, err := kernels.Capture(s.dev, func(stream *device.Stream) error {
				return errors.Join(s.add(stream, values, 1), f(stream))
			})
			require.ErrorIs(t, err, device.ErrCapturing)
			assert.ErrorContains(t, err, "kernels: capture on "+s.dev.Name())
			assert.Nil(t, failed)
			assert.Equal(t, 1, values.Block().References(), "nothing is held for a graph that there is not")
		})
	}
	assert.Empty(t, s.gpu.Launches())
}

func TestCaptureFails(t *testing.T) {
	s := newGraphScene(t)
	values := newSlice[uint8](t, s.mgr, 50)
	wrong := errors.New("wrong")
	_, err := kernels.Capture(s.dev, func(stream *device.Stream) error { return errors.Join(s.add(stream, values, 1), wrong) })
	require.ErrorIs(t, err, wrong)
	assert.Panics(t, func() {
		_, _ = kernels.Capture(s.dev, func(stream *device.Stream) error {
			assert.NoError(t, s.add(stream, values, 1))
			panic("in f")
		})
	})
	assert.Equal(t, 1, values.Block().References())
	require.NoError(t, s.dev.Synchronize(t.Context()), "no stream is captured any more")
	assert.Empty(t, s.gpu.Launches())

	_, err = kernels.Capture(nil, nil)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	s.gpu.NoGraphs = true
	never := func(*device.Stream) error { panic("nothing is captured") }
	_, err = kernels.Capture(s.dev, never)
	require.ErrorIs(t, err, device.ErrNotSupported)
	_, err = kernels.Capture(devicetest.Open(t, "host"), never)
	require.ErrorIs(t, err, device.ErrNotSupported)
	assert.ErrorContains(t, err, "graphs need a CUDA device")
}

func TestGraphOfAnotherDevice(t *testing.T) {
	s := newGraphScene(t)
	graph, err := kernels.Capture(s.dev, func(*device.Stream) error { return nil })
	require.NoError(t, err)
	defer func() { require.NoError(t, graph.Close()) }()
	err = graph.Launch(devicetest.Open(t, "host").DefaultStream())
	require.ErrorIs(t, err, device.ErrInvalidValue)
	closed := newStream(t, s.dev)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, graph.Launch(closed), device.ErrClosed)
}

// TestGraphHoldsCode closes the module of a kernel in two graphs.
func TestGraphHoldsCode(t *testing.T) {
	s := newGraphScene(t)
	module, err := kernels.Load(s.dev, "other code")
	require.NoError(t, err)
	f := function(t, module, "add")
	values := newSlice[uint8](t, s.mgr, 5)
	var graphs [2]*kernels.Graph
	for i := range graphs {
		graphs[i], err = kernels.Capture(s.dev, func(stream *device.Stream) error {
			return errors.Join(
				f.Launch(stream, device.Dim3{}, device.Dim3{}, 0, values, uint32(5), uint8(1)),
				f.Launch(stream, device.Dim3{}, device.Dim3{}, 0, values, uint32(5), uint8(1)))
		})
		require.NoError(t, err)
	}
	require.NoError(t, module.Close())
	require.ErrorIs(t, module.Close(), device.ErrClosed)
	require.NoError(t, graphs[0].Launch(nil), "the code is still there")
	require.NoError(t, graphs[0].Close())
	assert.Zero(t, countCalls(s.gpu, "ModuleUnload"))
	require.NoError(t, graphs[1].Close())
	assert.Equal(t, 1, countCalls(s.gpu, "ModuleUnload"))
}

// TestGraphsConcurrently captures, launches and allocates in several goroutines.
func TestGraphsConcurrently(t *testing.T) {
	s := newGraphScene(t)
	values := newSlice[uint8](t, s.mgr, 8)
	require.NoError(t, values.Fill(nil, 0))
	common, err := kernels.Capture(s.dev, func(stream *device.Stream) error { return s.add(stream, values, 1) })
	require.NoError(t, err)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 20 {
				own, err := memory.NewSlice[uint8](s.mgr, 64, memory.AllocateOptions{})
				if !assert.NoError(t, err) {
					return
				}
				graph, err := kernels.Capture(s.dev, func(stream *device.Stream) error {
					return errors.Join(own.Block().OrderBefore(stream), own.Fill(stream, 5), s.add(stream, own, 1))
				})
				if assert.NoError(t, err) {
					assert.NoError(t, errors.Join(graph.Launch(nil), common.Launch(nil), graph.Launch(s.mgr.Stream()), graph.Close()))
				}
				got := make([]byte, 64)
				assert.NoError(t, own.Download(context.Background(), nil, got))
				assert.Equal(t, slices.Repeat([]byte{6}, 64), got)
				assert.NoError(t, own.Release())
			}
		})
	}
	workers.Wait()
	require.NoError(t, values.Block().OrderBefore(s.mgr.Stream()))
	assert.Equal(t, slices.Repeat([]byte{80}, 8), download(t, values))
	require.NoError(t, common.Close())
}

// BenchmarkGraphMemory measures the cost that a graph's memory adds to its launch.
func BenchmarkGraphMemory(b *testing.B) {
	gpu := &launchtest.GPU{Kernels: adding(), Discard: true}
	dev, module := loadKernels(b, gpu, kernels.LoadOptions{})
	mgr := devicetest.Manager(b, dev, memory.Options{})
	f := function(b, module, "add")
	for _, blocks := range []int{1, 20, 100} {
		b.Run(fmt.Sprint(blocks, " blocks"), func(b *testing.B) {
			graph, err := kernels.Capture(dev, func(stream *device.Stream) error {
				for range blocks {
					values := newSlice[uint8](b, mgr, 8)
					if err := f.Launch(stream, device.Dim3{}, device.Dim3{X: 32}, 0, values, uint32(8), uint8(1)); err != nil {
						return err
					}
				}
				return nil
			})
			require.NoError(b, err)
			defer func() { require.NoError(b, graph.Close()) }()
			b.ReportAllocs()
			for b.Loop() {
				if err := graph.Launch(mgr.Stream()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
