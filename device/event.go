package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Event marks a point in the work of a stream, for which other streams or the host can
// wait. An event that was never recorded counts as reached.
type Event struct {
	device *Device
	handle backend.Event
	timing bool
	// borrowed is true if another library keeps the handle.
	borrowed bool
	// recorded is true if this event has recorded the mark. A handle from the cache may
	// still hold the mark of its former event.
	recorded atomic.Bool
	closed   atomic.Bool
}

// NewEvent returns an event that cannot measure time. Its handle may come from a cache,
// so that it needs no driver call. The caller closes it.
func (d *Device) NewEvent() (*Event, error) {
	if handle, ok := d.events.take(); ok {
		return &Event{device: d, handle: handle}, nil
	}
	return d.createEvent(false)
}

// WrapEvent makes an Event of another library's recorded handle, for streams and the
// host to wait for.
//
// # Ownership
//
// The other library keeps the handle: it must live while the Event is used, and Close
// does not destroy it.
func (d *Device) WrapEvent(handle backend.Event) *Event {
	e := &Event{device: d, handle: handle, borrowed: true}
	e.recorded.Store(true)
	return e
}

// NewTimingEvent returns an event that can measure elapsed time. The caller closes it.
func (d *Device) NewTimingEvent() (*Event, error) { return d.createEvent(true) }

func (d *Device) createEvent(timing bool) (*Event, error) {
	handle, err := d.driver.EventCreate(timing)
	if err != nil {
		return nil, fmt.Errorf("device %s: new event: %w", d.name, err)
	}
	return &Event{device: d, handle: handle, timing: timing}, nil
}

// Handle returns the driver's handle. The Event does not see records by the handle:
// Done and Wait refer to the last Record.
func (e *Event) Handle() backend.Event { return e.handle }

// Record marks the current work of the stream. Waits for an earlier mark keep waiting
// for that one.
func (e *Event) Record(stream *Stream) error {
	return stream.enqueue(e.recordOn)
}

// enqueueMarked calls f as Enqueue does and marks the work that f has enqueued; see
// streamwork.EnqueueMarked.
func (s *Stream) enqueueMarked(event *Event, f func(handle backend.Stream) error) error {
	return s.Enqueue(func(handle backend.Stream) error {
		if err := s.refuseCapture(); err != nil {
			return err
		}
		if err := f(handle); err != nil {
			return err
		}
		if err := event.recordOn(handle); err != nil {
			return &UnmarkedError{Err: err}
		}
		return nil
	})
}

// UnmarkedError means that work was enqueued but no event marks its end: the memory
// that it uses must not be reused.
type UnmarkedError struct{ Err error }

// Error returns the reason why the mark failed.
func (e *UnmarkedError) Error() string { return "work is enqueued but not marked: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *UnmarkedError) Unwrap() error { return e.Err }

func (e *Event) recordOn(stream backend.Stream) error {
	if err := e.usable("record"); err != nil {
		return err
	}
	if err := e.device.driver.EventRecord(e.handle, stream); err != nil {
		return err
	}
	e.recorded.Store(true)
	return nil
}

func (e *Event) waitOn(stream backend.Stream) error {
	if err := e.usable("wait for"); err != nil || !e.recorded.Load() || e.device.ended.Load() {
		return err
	}
	return e.device.driver.StreamWaitEvent(stream, e.handle)
}

// Done reports whether the marked work has run.
func (e *Event) Done() (bool, error) {
	if err := e.usable("query"); err != nil {
		return false, err
	}
	if !e.recorded.Load() || e.device.ended.Load() {
		return true, nil
	}
	return e.device.driver.EventQuery(e.handle)
}

// Wait blocks until the marked work has run or the context ends. It may return late by
// an eighth of its duration, but at most by a millisecond. If the context cannot end,
// such as context.Background, the wait sleeps in the driver.
func (e *Event) Wait(ctx context.Context) error {
	if err := e.usable("wait for"); err != nil || !e.recorded.Load() || e.device.ended.Load() {
		return err
	}
	if ctx.Done() != nil {
		return poll(ctx, e.Done)
	}
	if finished, err := pollBriefly(ctx, e.Done); finished || err != nil {
		return err
	}
	return e.device.driver.EventSynchronize(e.handle)
}

// Elapsed returns the milliseconds of device time between start and e. Both must be
// timing events that have been reached.
func (e *Event) Elapsed(start *Event) (milliseconds float32, err error) {
	if !e.timing || !start.timing {
		return 0, fmt.Errorf("device %s: elapsed time: the events were not made by NewTimingEvent: %w", e.device.name, ErrInvalidValue)
	}
	if err := errors.Join(start.usable("time from"), e.usable("time to")); err != nil {
		return 0, err
	}
	return e.device.driver.EventElapsed(start.handle, e.handle)
}

// Close closes the event. Streams that already wait for it continue to wait for the
// mark. No other call on the event may be in progress. A second call returns
// [ErrClosed]. Closing an event of WrapEvent does nothing.
func (e *Event) Close() error {
	if e.borrowed {
		return nil
	}
	if e.handle == 0 {
		return nil // the mark of a stream that was never used
	}
	if e.closed.Swap(true) {
		return fmt.Errorf("device %s: close event: %w", e.device.name, ErrClosed)
	}
	if !e.timing && e.device.events.put(e.handle) {
		return nil
	}
	return e.device.driver.EventDestroy(e.handle)
}

func (e *Event) usable(operation string) error {
	if e.closed.Load() {
		return fmt.Errorf("device %s: %s event: %w", e.device.name, operation, ErrClosed)
	}
	return nil
}

// closeAfter closes an event that is no longer needed and returns the first of the two
// errors.
func closeAfter(event *Event, err error) error {
	closing := event.Close()
	if err != nil {
		return err
	}
	return closing
}

// eventCache keeps the handles of closed events. A cached event may still be pending:
// recording it again replaces the mark for later queries and does not affect streams
// that wait for the old mark.
type eventCache struct {
	mu      sync.Mutex
	handles []backend.Event
	closed  bool
}

// maximumCachedEvents limits the cache; a driver event takes a few hundred bytes.
const maximumCachedEvents = 1024

func (c *eventCache) take() (backend.Event, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.handles) == 0 {
		return 0, false
	}
	handle := c.handles[len(c.handles)-1]
	c.handles = c.handles[:len(c.handles)-1]
	return handle, true
}

func (c *eventCache) put(handle backend.Event) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.handles) >= maximumCachedEvents {
		return false
	}
	c.handles = append(c.handles, handle)
	return true
}

func (c *eventCache) drain(driver backend.Device) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var failures []error
	for _, handle := range c.handles {
		failures = append(failures, driver.EventDestroy(handle))
	}
	c.handles, c.closed = nil, true
	return errors.Join(failures...)
}
