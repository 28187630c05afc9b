package kerneltest

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
)

// work is a captured operation. A launch of the graph runs it on the given stream.
type work func(stream backend.Stream) error

// captures holds the graphs of a device and the captures in progress.
type captures struct {
	open   map[backend.Stream]*capture
	graphs map[uintptr][]work
}

type capture struct {
	work []work
	lost bool
}

func newCaptures() captures {
	return captures{open: map[backend.Stream]*capture{}, graphs: map[uintptr][]work{}}
}

// captured adds work to the stream's capture. It returns false if the stream is not
// captured.
func (s *shared) captured(stream backend.Stream, w work) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.captures.open[stream]
	if c != nil {
		c.work = append(c.work, w)
	}
	return c != nil
}

// refuseCaptured invalidates the capture of a stream if a call queries the stream or
// makes another stream wait for it: the emulator captures one stream only.
func (s *shared) refuseCaptured(operation string, stream backend.Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.captures.open[stream]
	if c == nil {
		return nil
	}
	c.lost = true
	return fmt.Errorf("kerneltest: %s: %w", operation, backend.ErrCapturing)
}

// StreamBeginCapture implements backend.Graphs.
func (e *emulator) StreamBeginCapture(stream backend.Stream) error {
	if err := e.usable(); err != nil {
		return err
	}
	if stream == 0 {
		return invalid("StreamBeginCapture", "the default stream cannot be captured")
	}
	if _, err := e.Device.StreamQuery(stream); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.captures.open[stream] != nil {
		return invalid("StreamBeginCapture", "the stream is captured already")
	}
	e.captures.open[stream] = &capture{}
	return nil
}

// StreamEndCapture implements backend.Graphs.
func (e *emulator) StreamEndCapture(stream backend.Stream) (backend.Graph, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.captures.open[stream]
	delete(e.captures.open, stream)
	if c == nil {
		return 0, invalid("StreamEndCapture", "the stream is not captured")
	}
	if c.lost {
		return 0, fmt.Errorf("kerneltest: StreamEndCapture: %w", backend.ErrCapturing)
	}
	return backend.Graph(e.keepGraph(c.work)), nil
}

// keepGraph stores work and returns its handle. The caller holds the lock.
func (e *emulator) keepGraph(w []work) uintptr {
	e.handles++
	e.captures.graphs[e.handles] = w
	return e.handles
}

func (e *emulator) dropGraph(operation string, number uintptr) error {
	if err := e.usable(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.captures.graphs[number]; !ok {
		return invalid(operation, "graph %d is not of this device", number)
	}
	delete(e.captures.graphs, number)
	return nil
}

// GraphDestroy implements backend.Graphs.
func (e *emulator) GraphDestroy(graph backend.Graph) error {
	return e.dropGraph("GraphDestroy", uintptr(graph))
}

// GraphInstantiate implements backend.Graphs.
func (e *emulator) GraphInstantiate(graph backend.Graph) (backend.ExecutableGraph, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	w, ok := e.captures.graphs[uintptr(graph)]
	if !ok {
		return 0, invalid("GraphInstantiate", "graph %d is not of this device", graph)
	}
	return backend.ExecutableGraph(e.keepGraph(w)), nil
}

// GraphLaunch implements backend.Graphs.
func (e *emulator) GraphLaunch(graph backend.ExecutableGraph, stream backend.Stream) error {
	if err := e.usable(); err != nil {
		return err
	}
	e.mu.Lock()
	all, ok := e.captures.graphs[uintptr(graph)]
	e.mu.Unlock()
	if !ok {
		return invalid("GraphLaunch", "graph %d is not of this device", graph)
	}
	e.graphs.Lock()
	defer e.graphs.Unlock()
	for _, w := range all {
		if err := w(stream); err != nil {
			return err
		}
	}
	// Launches of one graph are serialized, even on different streams.
	return e.Device.StreamSynchronize(stream)
}

// GraphExecutableDestroy implements backend.Graphs.
func (e *emulator) GraphExecutableDestroy(graph backend.ExecutableGraph) error {
	return e.dropGraph("GraphExecutableDestroy", uintptr(graph))
}

// Synchronize implements backend.Device.
func (e *emulator) Synchronize() error {
	e.mu.Lock()
	var stream backend.Stream
	for stream = range e.captures.open {
		break
	}
	e.mu.Unlock()
	if err := e.refuseCaptured("Synchronize", stream); err != nil {
		return err
	}
	return e.Device.Synchronize()
}

// StreamSynchronize implements backend.Streams.
func (e *emulator) StreamSynchronize(stream backend.Stream) error {
	if err := e.refuseCaptured("StreamSynchronize", stream); err != nil {
		return err
	}
	return e.Device.StreamSynchronize(stream)
}

// StreamQuery implements backend.Streams.
func (e *emulator) StreamQuery(stream backend.Stream) (done bool, err error) {
	if err := e.refuseCaptured("StreamQuery", stream); err != nil {
		return false, err
	}
	return e.Device.StreamQuery(stream)
}

// EventRecord implements backend.Streams.
func (e *emulator) EventRecord(event backend.Event, stream backend.Stream) error {
	if err := e.refuseCaptured("EventRecord", stream); err != nil {
		return err
	}
	return e.Device.EventRecord(event, stream)
}

// StreamWaitEvent implements backend.Streams.
func (e *emulator) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	if err := e.refuseCaptured("StreamWaitEvent", stream); err != nil {
		return err
	}
	return e.Device.StreamWaitEvent(stream, event)
}

// StreamCapturing reports whether the stream is captured.
func (e *emulator) StreamCapturing(stream backend.Stream) (bool, error) {
	if _, err := e.Device.StreamCapturing(stream); err != nil {
		return false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.captures.open[stream] != nil, nil
}
