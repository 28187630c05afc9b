package kernels

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
	"github.com/gpuframe/gpuframe/memory"
)

// Capture returns a [Graph] of the work that f enqueues on its stream: launches, fills
// and copies on the device. None of it runs before the graph is launched. Operators are
// captured like launches if they get the stream as Options.Stream. An error that f
// returns makes Capture fail.
//
// Only the given stream is captured. Work that f enqueues on other streams, including
// the streams that a nil stream stands for, runs immediately. It must not use results
// of captured work: a launch on another stream is refused if its memory was allocated
// on the captured stream.
//
// If an operator makes the stream wait for others, because another stream still writes
// an input or has used the memory, the first launch of the graph waits for them.
//
// # Errors
//
// Operations that need captured work to have run return an error that wraps
// device.ErrCapturing: copies to and from the host, Stream.Synchronize, and every
// operator that waits for a number on the host, such as a row count.
//
// If other goroutines wait for the whole device during the capture, as
// device.Synchronize and Module.Close do, the driver invalidates the capture, and
// Capture fails.
//
// On a device without graphs, such as the host, and with drivers before CUDA 11.4 the
// error wraps device.ErrNotSupported; launch directly there.
//
// # Ownership
//
// Memory that f allocates on the stream, or gets from outside, may be used after the
// capture: the graph's inputs and results. The graph holds all memory that captured
// work uses until Graph.Close, and the manager counts that memory as used until then. f
// releases intermediate memory as usual.
func Capture(dev *device.Device, f func(stream *device.Stream) error) (graph *Graph, err error) {
	if dev == nil {
		return nil, fmt.Errorf("kernels: capture: the device is nil: %w", device.ErrInvalidValue)
	}
	stream, err := dev.NewStream()
	if err != nil {
		return nil, fmt.Errorf("kernels: capture: %w", err)
	}
	g := &Graph{stream: stream}
	captured := false
	defer func() { // also if f panics
		if !captured {
			err = errors.Join(err, g.Close())
		}
	}()
	if err := g.capture(f); err != nil {
		return nil, fmt.Errorf("kernels: capture on %s: %w", dev, err)
	}
	captured = true
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
	defer func() { // also if f panics
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

// holding collects the blocks and code that a graph under capture holds. f may work in
// several goroutines.
type holding struct {
	graph *Graph
	mu    sync.Mutex
	known map[hook.Held]struct{}
	// failure is the error of the first reference that could not be taken.
	failure error
	ended   bool
}

// add takes a reference to an object, once per object.
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

// end prevents goroutines that outlive f from adding to the graph. It returns an error
// if a reference is missing.
func (h *holding) end() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	return h.failure
}
