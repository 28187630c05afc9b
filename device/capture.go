package device

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
)

// capture is a capture of a stream in progress.
type capture struct {
	stream *Stream
	// recording is the driver stream that is captured instead of the stream's own.
	recording backend.Stream
	hold      func(hook.Held) error
	ended     atomic.Bool
}

// beginCapture makes work that Enqueue enqueues part of a graph; see
// streamwork.BeginCapture.
//
// Only work is captured, not the order of memory. Captured work goes to a separate
// driver stream made for the capture. Marks and waits use the stream's own handle and
// take effect immediately: an allocator may query whether its memory is free, or make
// the stream wait for that. If the graph contained such a wait, it would wait for an
// old event at every launch, unless the driver refused it. The launcher of the graph
// makes it wait for the stream.
func (s *Stream) beginCapture(hold func(hook.Held) error) (hook.Capture, error) {
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
	c := &capture{stream: s, recording: recording, hold: hold}
	s.capture.Store(c)
	s.device.captures++
	return c, nil
}

// End implements [hook.Capture].
func (c *capture) End() (backend.Graph, error) {
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
	// The graph is complete even if its stream cannot be destroyed.
	return graph, errors.Join(err, driver.StreamDestroy(c.recording))
}

// Capturing reports whether the stream is being captured.
func (s *Stream) Capturing() bool { return s.capture.Load() != nil }

// Hold passes an object that captured work uses to the capture; see streamwork.Hold.
func (s *streamWork) Hold(h hook.Held) (captured bool, err error) {
	if c := s.capture.Load(); c != nil {
		return true, c.hold(h)
	}
	return false, nil
}

// refuseCapture returns an error that wraps [ErrCapturing] if the stream is captured.
func (s *Stream) refuseCapture() error {
	if s.Capturing() {
		return fmt.Errorf("%v: its work does not run before the graph is launched: %w", s, ErrCapturing)
	}
	return nil
}
