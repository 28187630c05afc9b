package device

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Held is what a capture keeps because its work uses it: memory, or loaded code.
type Held interface {
	Retain() error
	Release() error
}

// Capture is a capture of a stream that is under way. It serves package kernels,
// which programs use for this.
type Capture struct {
	stream *Stream
	// recording is the driver's stream that is captured, in place of the stream's own.
	recording backend.Stream
	hold      func(Held) error
	ended     atomic.Bool
}

// BeginCapture makes work that is enqueued by [Stream.Enqueue] part of a graph: it
// does not run. hold is told what that work uses, from whichever goroutine uses it.
//
// A stream orders work and memory, and of the two only the work is captured. What is
// captured goes to another stream of the driver's, made for the purpose. Marks and
// waits stay on the stream's own, where they happen at once: an allocator may ask
// whether its memory is free, or let the stream wait for that, and a graph that knew
// of it would wait for an event of long ago at every launch, if the driver did not
// refuse it. Whoever launches the graph has it wait for the stream.
//
// A device without graphs returns [ErrNotSupported].
func (s *Stream) BeginCapture(hold func(Held) error) (*Capture, error) {
	driver := s.device.driver
	s.open.Lock()
	defer s.open.Unlock()
	if s.last != nil {
		return nil, fmt.Errorf("%v: capture: %w", s, ErrClosed)
	}
	if s.capture.Load() != nil {
		return nil, fmt.Errorf("%v: capture: the stream is already captured: %w", s, ErrCapturing)
	}
	s.device.capturing.Lock()
	defer s.device.capturing.Unlock()
	recording, err := driver.StreamCreate()
	if err != nil {
		return nil, fmt.Errorf("%v: capture: %w", s, err)
	}
	if err := driver.StreamBeginCapture(recording); err != nil {
		return nil, errors.Join(fmt.Errorf("%v: capture: %w", s, err), driver.StreamDestroy(recording))
	}
	c := &Capture{stream: s, recording: recording, hold: hold}
	s.capture.Store(c)
	s.device.captures++
	return c, nil
}

// End makes the stream an ordinary one again, also after an error, and returns what
// was captured, which the caller destroys. Where something was enqueued that cannot
// be captured the error wraps [ErrCapturing].
func (c *Capture) End() (backend.Graph, error) {
	s, driver := c.stream, c.stream.device.driver
	if c.ended.Swap(true) {
		return 0, fmt.Errorf("%v: end capture: %w", s, ErrClosed)
	}
	s.open.Lock()
	defer s.open.Unlock()
	s.capture.Store(nil)
	defer func() {
		s.device.capturing.Lock()
		defer s.device.capturing.Unlock()
		s.device.captures--
	}()
	graph, err := driver.StreamEndCapture(c.recording)
	if err != nil {
		err = fmt.Errorf("%v: end capture: %w", s, err)
	}
	// The graph is whole even if its stream cannot be given back.
	return graph, errors.Join(err, driver.StreamDestroy(c.recording))
}

// Capturing reports whether the stream is captured at the moment.
func (s *Stream) Capturing() bool { return s.capture.Load() != nil }

// Hold tells the stream's capture that work which was just enqueued uses h, in place
// of a note that the stream does, for nothing runs there. On a stream that is not
// captured it does nothing and says so.
func (s *Stream) Hold(h Held) (captured bool, err error) {
	if c := s.capture.Load(); c != nil {
		return true, c.hold(h)
	}
	return false, nil
}

// RefuseCapture returns an error that wraps [ErrCapturing] where the stream is
// captured, for operations that need their work to run, such as copies that the host
// waits for.
func (s *Stream) RefuseCapture() error {
	if s.Capturing() {
		return fmt.Errorf("%v: its work does not run before the graph is launched: %w", s, ErrCapturing)
	}
	return nil
}
