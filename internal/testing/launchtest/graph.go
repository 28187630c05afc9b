package launchtest

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
)

// work is a captured operation. A launch of the graph runs it on the given stream.
type work func(stream backend.Stream) error

// captured adds work to the stream's capture. It returns false if the stream is not
// captured.
func (g *GPU) captured(stream backend.Stream, w work) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	recorded, capturing := g.captures[stream]
	if capturing {
		g.captures[stream] = append(recorded, w)
	}
	return capturing
}

// refuseCaptured invalidates the capture of a stream if a call queries the stream.
func (g *GPU) refuseCaptured(operation string, stream backend.Stream) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, capturing := g.captures[stream]; !capturing {
		return nil
	}
	g.lost[stream] = true
	return fmt.Errorf("launchtest: %s: %w", operation, backend.ErrCapturing)
}

// Graphs returns the number of graphs and executable graphs that were not destroyed.
func (g *GPU) Graphs() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.graphs)
}

// StreamBeginCapture implements backend.Graphs.
func (g *GPU) StreamBeginCapture(stream backend.Stream) error {
	g.note("StreamBeginCapture")
	if g.NoGraphs {
		return fmt.Errorf("launchtest: StreamBeginCapture: %w", backend.ErrNotSupported)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.captures[stream] = []work{}
	return nil
}

// StreamEndCapture implements backend.Graphs.
func (g *GPU) StreamEndCapture(stream backend.Stream) (backend.Graph, error) {
	g.note("StreamEndCapture")
	g.mu.Lock()
	defer g.mu.Unlock()
	recorded, capturing := g.captures[stream]
	lost := g.lost[stream]
	delete(g.captures, stream)
	delete(g.lost, stream)
	if lost || !capturing {
		return 0, fmt.Errorf("launchtest: StreamEndCapture: %w", backend.ErrCapturing)
	}
	return backend.Graph(g.keep(recorded)), nil
}

// keep stores captured work and returns its number. The caller holds the lock.
func (g *GPU) keep(recorded []work) uintptr {
	g.lastGraph++
	g.graphs[g.lastGraph] = recorded
	return g.lastGraph
}

// GraphInstantiate implements backend.Graphs.
func (g *GPU) GraphInstantiate(graph backend.Graph) (backend.ExecutableGraph, error) {
	g.note("GraphInstantiate")
	g.mu.Lock()
	defer g.mu.Unlock()
	return backend.ExecutableGraph(g.keep(g.graphs[uintptr(graph)])), nil
}

// GraphDestroy implements backend.Graphs.
func (g *GPU) GraphDestroy(graph backend.Graph) error { return g.destroy(uintptr(graph)) }

// GraphExecutableDestroy implements backend.Graphs.
func (g *GPU) GraphExecutableDestroy(graph backend.ExecutableGraph) error {
	return g.destroy(uintptr(graph))
}

func (g *GPU) destroy(graph uintptr) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.graphs[graph]; !ok {
		return fmt.Errorf("launchtest: no graph %d: %w", graph, backend.ErrInvalidValue)
	}
	delete(g.graphs, graph)
	return nil
}

// GraphLaunch implements backend.Graphs.
func (g *GPU) GraphLaunch(graph backend.ExecutableGraph, stream backend.Stream) error {
	g.note("GraphLaunch(%d)", stream)
	g.mu.Lock()
	recorded, ok := g.graphs[uintptr(graph)]
	g.mu.Unlock()
	if !ok {
		return fmt.Errorf("launchtest: no graph %d: %w", graph, backend.ErrInvalidValue)
	}
	for _, w := range recorded {
		if err := w(stream); err != nil {
			return err
		}
	}
	return nil
}

// MemsetAsync implements backend.Copier.
func (g *GPU) MemsetAsync(to backend.Pointer, value uint32, width int, count uint64, stream backend.Stream) error {
	run := func(stream backend.Stream) error { return g.Device.MemsetAsync(to, value, width, count, stream) }
	if g.captured(stream, run) {
		return nil
	}
	return run(stream)
}

// CopyOnDeviceAsync implements backend.Copier.
func (g *GPU) CopyOnDeviceAsync(to, from backend.Pointer, bytes uint64, stream backend.Stream) error {
	run := func(stream backend.Stream) error { return g.Device.CopyOnDeviceAsync(to, from, bytes, stream) }
	if g.captured(stream, run) {
		return nil
	}
	return run(stream)
}

// StreamWaitEvent implements backend.Streams. A capture cannot wait for work outside of
// it.
func (g *GPU) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	if err := g.refuseCaptured("StreamWaitEvent", stream); err != nil {
		return err
	}
	return g.Device.StreamWaitEvent(stream, event)
}

// StreamSynchronize implements backend.Streams.
func (g *GPU) StreamSynchronize(stream backend.Stream) error {
	if err := g.refuseCaptured("StreamSynchronize", stream); err != nil {
		return err
	}
	return g.Device.StreamSynchronize(stream)
}

// StreamDestroy implements backend.Streams. It also drops the stream's capture.
func (g *GPU) StreamDestroy(stream backend.Stream) error {
	g.mu.Lock()
	delete(g.captures, stream)
	delete(g.lost, stream)
	g.mu.Unlock()
	return g.Device.StreamDestroy(stream)
}
