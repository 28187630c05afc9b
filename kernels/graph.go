package kernels

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
	"github.com/gpuframe/gpuframe/memory"
)

// Graph is work that [Capture] has recorded. One call enqueues all of it, any number of
// times. Each launch runs the same kernels on the same memory with the same numbers. It
// costs about as much as the launch of one kernel, and the gaps between its kernels are
// shorter than between separate launches.
//
// A Graph is safe for concurrent use. Launches of one graph run in sequence, even on
// different streams.
type Graph struct {
	// stream is the captured stream. Memory that was allocated during the capture
	// belongs to it.
	stream *device.Stream
	// The graph holds blocks and code, which do not change after Capture.
	blocks []*memory.Block
	code   []hook.Held

	mu         sync.Mutex
	executable backend.ExecutableGraph // the driver allows one thread at a time
	closed     bool
}

// Stream returns the stream that owns memory allocated during the capture. It is an
// ordinary stream, which the graph closes.
func (g *Graph) Stream() *device.Stream { return g.stream }

// Launch enqueues the graph's work on the stream; nil means Graph.Stream. The stream
// waits, on the device, for other streams' pending work on the graph's memory, and
// Launch records the stream's use of that memory.
//
// A launch overwrites the results of the previous one. Work that reads them and is
// enqueued before the next launch is ordered before it, on the same stream and, after
// memory.Block.OrderBefore, on other streams.
func (g *Graph) Launch(stream *device.Stream) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("kernels: launch graph on %s: %w", g.stream.Device(), device.ErrClosed)
	}
	if stream == nil {
		stream = g.stream
	}
	if err := g.launch(stream); err != nil {
		return fmt.Errorf("kernels: launch graph on %s: %w", g.stream.Device(), err)
	}
	return nil
}

func (g *Graph) launch(stream *device.Stream) error {
	if !stream.Device().Same(g.stream.Device()) {
		return fmt.Errorf("the stream is of %s: %w", stream.Device(), device.ErrInvalidValue)
	}
	if err := streamwork.RefuseCapture(stream); err != nil { // the captured graph would have to hold g's memory
		return err
	}
	for _, block := range g.blocks {
		if err := block.OrderBefore(stream); err != nil {
			return err
		}
	}
	err := stream.Enqueue(func(handle backend.Stream) error {
		return stream.Device().Driver().GraphLaunch(g.executable, handle)
	})
	if err != nil {
		return err
	}
	countersOf(stream.Device()).graphLaunches.Add(1)
	for _, block := range g.blocks {
		err = errors.Join(err, block.RecordUse(stream))
	}
	return err
}

// Close releases the memory and the code that the graph holds. Enqueued launches still
// run, and memory is freed after them, as by memory.Block.Release. Close waits for the
// device if it unloads code of closed modules. A second Close returns an error that
// wraps device.ErrClosed.
func (g *Graph) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("kernels: close graph on %s: %w", g.stream.Device(), device.ErrClosed)
	}
	g.closed = true
	var failures []error
	if g.executable != 0 {
		failures = append(failures, g.stream.Device().Driver().GraphExecutableDestroy(g.executable))
	}
	failures = append(failures, release.All(g.blocks), release.All(g.code), g.stream.Close())
	g.blocks, g.code = nil, nil
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("kernels: close graph on %s: %w", g.stream.Device(), err)
	}
	return nil
}
