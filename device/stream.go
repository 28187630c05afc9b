package device

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
)

// Stream is an ordered queue of work on a device. Work on one stream runs in the order
// in which it was enqueued; only events order work on two streams. A Stream is safe for
// concurrent use.
type Stream struct {
	device *Device
	handle backend.Stream
	owned  bool

	// open is locked for reading by callers that enqueue, so that Close cannot destroy
	// the handle meanwhile.
	open sync.RWMutex
	// last marks all the work of a closed stream, so that memory that the stream has
	// used can still be freed in order; nil while the stream is open.
	last *Event
	// fence marks the stream repeatedly for other streams that wait for it. It is
	// created on first use and closed when the stream is collected.
	fence atomic.Pointer[Event]
	// capture is the capture in progress, or nil. It changes under the lock open.
	capture atomic.Pointer[capture]
	// watches are called before work is enqueued; nil without watches.
	watches atomic.Pointer[[]*hook.Watch]
	// arrived is the last arrival of the device that the stream is ordered after.
	arrived atomic.Uint64
	// foreign is nil unless another library owns the stream.
	foreign *foreign
	// all is true if the Stream represents all streams of the device.
	all bool
}

// NewStream makes a stream. The caller closes it.
func (d *Device) NewStream() (*Stream, error) {
	handle, err := d.driver.StreamCreate()
	if err != nil {
		return nil, fmt.Errorf("device %s: new stream: %w", d.name, err)
	}
	return &Stream{device: d, handle: handle, owned: true}, nil
}

// DefaultStream returns the device's default stream. For CUDA it is the legacy default
// stream, which PyTorch and CuPy use by default.
func (d *Device) DefaultStream() *Stream { return d.defaultStream }

// Device returns the device of the stream.
func (s *Stream) Device() *Device { return s.device }

// Handle returns the driver's handle. Work that is enqueued by it is not captured.
func (s *Stream) Handle() backend.Stream { return s.handle }

// Equal reports whether both are the same queue of the same device. Two wrapped handles
// are the same queue if the driver reports that, or cannot distinguish them.
func (s *Stream) Equal(other *Stream) bool {
	return s == other || s != nil && other != nil &&
		s.handle == other.handle && s.device.Same(other.device) && !s.owned && !other.owned &&
		s.all == other.all && s.identity() == other.identity()
}

func (s *Stream) identity() uint64 {
	if s.foreign == nil {
		return 0
	}
	return s.foreign.identity
}

// String formats the stream for messages.
func (s *Stream) String() string {
	if s.all {
		return "all streams of " + s.device.name
	}
	return fmt.Sprintf("%s stream %#x", s.device.name, uintptr(s.handle))
}

// Enqueue calls f with the driver's handle, which stays valid until f returns. f must
// not call methods of the same stream. While the stream is captured, the handle is
// another one; work on it becomes part of a graph.
//
// # Errors
//
// Enqueue returns the error of f. If the stream is closed, it returns [ErrClosed]
// without calling f.
func (s *Stream) Enqueue(f func(handle backend.Stream) error) error {
	return s.enqueue(func(handle backend.Stream) error {
		if c := s.capture.Load(); c != nil {
			return f(c.recording)
		}
		s.beforeWork()
		return s.after(f(handle))
	})
}

// enqueueUncaptured is Enqueue for work that belongs to memory rather than to a
// computation; see streamwork.EnqueueUncaptured.
func (s *Stream) enqueueUncaptured(f func(handle backend.Stream) error) error {
	return s.enqueue(func(handle backend.Stream) error {
		s.beforeWork()
		return s.after(f(handle))
	})
}

// enqueue is Enqueue for marks, which are not work.
func (s *Stream) enqueue(f func(handle backend.Stream) error) error {
	if s.all {
		return fmt.Errorf("%v: enqueue: the stream represents other streams and takes no work: %w", s, ErrNotSupported)
	}
	s.open.RLock()
	defer s.open.RUnlock()
	if s.last != nil {
		return fmt.Errorf("%v: %w", s, ErrClosed)
	}
	return f(s.handle)
}

// Closed reports whether the stream was closed, so that no more work can be enqueued.
func (s *Stream) Closed() bool {
	s.open.RLock()
	defer s.open.RUnlock()
	return s.last != nil
}

// Done reports whether all enqueued work has run.
func (s *Stream) Done() (bool, error) {
	if s.device.ended.Load() {
		return true, nil
	}
	if s.all {
		event, err := s.device.recordAll()
		if err != nil {
			return false, err
		}
		done, err := event.Done()
		return done, closeAfter(event, err)
	}
	s.open.RLock()
	defer s.open.RUnlock()
	if s.last != nil {
		return s.last.Done()
	}
	return s.device.driver.StreamQuery(s.handle)
}

// Synchronize waits until all enqueued work has run, or until the context ends. While
// the stream is captured it returns [ErrCapturing].
func (s *Stream) Synchronize(ctx context.Context) error {
	if err := s.refuseCapture(); err != nil {
		return err
	}
	return s.synchronizeUncaptured(ctx)
}

// synchronizeUncaptured is Synchronize that also works while the stream is captured.
func (s *Stream) synchronizeUncaptured(ctx context.Context) error {
	err := s.synchronizeMark(ctx)
	if s.all && errors.Is(err, ErrNotSupported) {
		return s.device.Synchronize(ctx)
	}
	return err
}

func (s *Stream) synchronizeMark(ctx context.Context) error {
	return s.withMark(func(event *Event) error { return event.Wait(ctx) })
}

// withMark calls f with an event that marks all enqueued work. If the stream is closed,
// the event marks its last work.
func (s *Stream) withMark(f func(*Event) error) error {
	if s.device.ended.Load() {
		return nil
	}
	// When s is collected, its cleanup closes the event that f uses.
	defer runtime.KeepAlive(s)
	if last := s.lastOfClosed(); last != nil {
		return f(last)
	}
	event, err := s.Record()
	if err == nil {
		return closeAfter(event, f(event))
	}
	// The stream may have been closed in between.
	if last := s.lastOfClosed(); last != nil {
		return f(last)
	}
	return err
}

// lastOfClosed returns the mark of a closed stream's last work, or nil for an open
// stream.
func (s *Stream) lastOfClosed() *Event {
	s.open.RLock()
	defer s.open.RUnlock()
	return s.last
}

// Record returns a new event that marks all enqueued work. The caller closes it.
func (s *Stream) Record() (*Event, error) {
	if s.all {
		return s.device.recordAll()
	}
	event, err := s.device.NewEvent()
	if err != nil {
		return nil, err
	}
	if err := event.Record(s); err != nil {
		return nil, closeAfter(event, err)
	}
	return event, nil
}

// Wait makes work that is enqueued from now on wait, on the device, for the work that
// the event marks.
func (s *Stream) Wait(event *Event) error {
	return s.enqueueUncaptured(func(handle backend.Stream) error { return event.waitOn(handle) })
}

// WaitStream makes work that is enqueued from now on wait for all current work of the
// other stream. The other stream may be closed.
func (s *Stream) WaitStream(other *Stream) error {
	if s.Equal(other) || other.device.ended.Load() {
		return nil
	}
	if other.all {
		return s.waitAll()
	}
	defer runtime.KeepAlive(other) // and its fence with it
	fence, err := other.fenced()
	if err != nil {
		return err
	}
	// Another goroutine may mark a later point first. Then s waits for that point,
	// which is harmless.
	if err := other.enqueue(fence.recordOn); err != nil && other.lastOfClosed() == nil {
		return err
	}
	return s.Wait(fence)
}

// fenced returns the stream's fence. If the stream is closed, the fence marks its last
// work.
func (s *Stream) fenced() (*Event, error) {
	if fence := s.fence.Load(); fence != nil {
		return fence, nil
	}
	fence, err := s.device.NewEvent()
	if err != nil {
		return nil, err
	}
	if !s.fence.CompareAndSwap(nil, fence) {
		return s.fence.Load(), fence.Close()
	}
	runtime.AddCleanup(s, func(event *Event) { event.Close() }, fence)
	return fence, nil
}

// Close destroys the stream and returns immediately; enqueued work still runs. Close
// does not destroy a stream that the device or another library owns. A second call
// returns [ErrClosed].
func (s *Stream) Close() error {
	if !s.owned {
		return nil
	}
	s.open.Lock()
	defer s.open.Unlock()
	if s.last != nil {
		return fmt.Errorf("%v: close: %w", s, ErrClosed)
	}
	if err := s.refuseCapture(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	last, err := s.fenced()
	if err != nil {
		return err
	}
	if err := last.recordOn(s.handle); err != nil {
		return err
	}
	s.last = last
	return s.device.driver.StreamDestroy(s.handle)
}
