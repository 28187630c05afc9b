package kernels

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/streamwork"
	"github.com/gpuframe/gpuframe/internal/streamwork/hook"
	"github.com/gpuframe/gpuframe/memory"
)

// Graph is work that was captured by [Capture] and is enqueued by one call, as often
// as one likes. Each launch runs the same kernels on the same memory with the same
// numbers. It costs about as much as the launch of one kernel, and between kernels
// less passes than between launches.
//
// It is safe for concurrent use. Launches of one graph run one after the other, on
// whatever streams.
type Graph struct {
	// stream was captured. Memory that was allocated meanwhile belongs to it.
	stream *device.Stream
	// blocks and code are what the graph holds. They do not change after Capture.
	blocks []*memory.Block
	code   []hook.Held

	mu         sync.Mutex
	executable backend.ExecutableGraph // which the driver takes from one thread at a time
	closed     bool
}

// Stream returns the stream that memory allocated in the capture belongs to. It is an
// ordinary one that the graph closes.
func (g *Graph) Stream() *device.Stream { return g.stream }

// Launch enqueues the graph's work on the stream; a nil stream is the graph's own. It
// is made to wait, on the device, for what other streams have to do with the graph's
// memory, and the use of all of it is recorded.
//
// A launch overwrites what the last one computed. On the stream of the launch, and on
// others after memory.Block.OrderBefore, work that is enqueued before the next launch
// still finds it.
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
	if err := streamwork.RefuseCapture(stream); err != nil { // it would hold what this graph holds
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
	for _, block := range g.blocks {
		err = errors.Join(err, block.RecordUse(stream))
	}
	return err
}

// Close lets go of the memory and the code that the graph holds. Launches that are
// enqueued still run; memory is freed after them, as memory.Block.Release does it, and
// of closed modules the code is unloaded, which waits for the device. Closing twice
// returns an error that wraps device.ErrClosed.
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
	for _, block := range g.blocks {
		failures = append(failures, block.Release())
	}
	for _, code := range g.code {
		failures = append(failures, code.Release())
	}
	g.blocks, g.code = nil, nil
	failures = append(failures, g.stream.Close())
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("kernels: close graph on %s: %w", g.stream.Device(), err)
	}
	return nil
}
