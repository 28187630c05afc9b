package kernels

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/streamwork"
	"github.com/gpuframe/gpuframe/internal/streamwork/hook"
	"github.com/gpuframe/gpuframe/memory"
)

// Capture makes a [Graph] of the work that f enqueues on the stream it is given:
// launches, fills and copies on the device. None of it runs before the graph is
// launched. Operators can be captured like launches: give them the stream as
// Options.Stream.
//
// What f allocates it gets, and what it allocates on the stream is, afterwards, the
// graph's results. All memory that captured work uses is held until Graph.Close, so f
// releases what it needs only on the way, as always; the manager counts it as in use
// as long. Where an operator makes the stream wait for others, because of an input
// that is still written or of memory that was used elsewhere, that is heeded at the
// first launch of the graph.
//
// Only the given stream is captured. What f enqueues on other streams, among them
// those that a nil stream means, runs at once; it must not use what captured work
// computes. (Of memory that was allocated on the stream that is captured a launch
// elsewhere is refused.) What needs captured work to have run returns an error that wraps
// device.ErrCapturing: copies to and from the host, Stream.Synchronize, and with that
// every operator that waits for a number to come to the host, such as a row count.
// f returns the error. Meanwhile nobody else may wait for the whole device, as
// device.Synchronize and Module.Close do: the driver would give the capture up, and
// Capture fails.
//
// A device without graphs, such as the host, and a driver before CUDA 11.4 give an
// error that wraps device.ErrNotSupported; launch directly there.
func Capture(dev *device.Device, f func(stream *device.Stream) error) (graph *Graph, err error) {
	if dev == nil {
		return nil, fmt.Errorf("kernels: capture: the device is nil: %w", device.ErrInvalidValue)
	}
	stream, err := dev.NewStream()
	if err != nil {
		return nil, fmt.Errorf("kernels: capture: %w", err)
	}
	g := &Graph{stream: stream}
	made := false
	defer func() { // also where f panics
		if !made {
			err = errors.Join(err, g.Close())
		}
	}()
	if err := g.capture(f); err != nil {
		return nil, fmt.Errorf("kernels: capture on %s: %w", dev, err)
	}
	made = true
	return g, nil
}

// capture fills the graph.
func (g *Graph) capture(f func(*device.Stream) error) (err error) {
	h := &holding{graph: g, known: map[hook.Held]struct{}{}}
	capture, err := streamwork.BeginCapture(g.stream, h.add)
	if err != nil {
		return err
	}
	driver := g.stream.Device().Driver()
	captured := false
	defer func() { // also where f panics
		graph, ending := capture.End()
		err = errors.Join(err, ending, h.end())
		if graph == 0 {
			return
		}
		if captured && err == nil {
			g.executable, err = driver.GraphInstantiate(graph)
		}
		err = errors.Join(err, driver.GraphDestroy(graph))
	}()
	err = f(g.stream)
	captured = true
	return err
}

// holding is what is held for a graph that is captured. f may work in several
// goroutines.
type holding struct {
	graph *Graph
	mu    sync.Mutex
	known map[hook.Held]struct{}
	// failure is why something that the graph uses is not held.
	failure error
	ended   bool
}

// add holds what is not held yet.
func (h *holding) add(held hook.Held) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.known[held]; known {
		return nil
	}
	if h.ended {
		return fmt.Errorf("the capture has ended: %w", device.ErrClosed)
	}
	if err := held.Retain(); err != nil {
		h.failure = err
		return err
	}
	h.known[held] = struct{}{}
	if block, ok := held.(*memory.Block); ok {
		h.graph.blocks = append(h.graph.blocks, block)
	} else {
		h.graph.code = append(h.graph.code, held)
	}
	return nil
}

// end keeps who works on after f has returned from adding to the graph. It returns
// an error where the graph uses what is not held.
func (h *holding) end() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	return h.failure
}
