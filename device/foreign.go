package device

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/gpuframe/gpuframe/device/backend"
)

// foreign is what a Stream knows of a queue that another library owns.
type foreign struct {
	// identity tells the queue from a later one with the same handle; zero if the
	// driver cannot tell.
	identity uint64
	// past stands for the work that is known to be on the queue.
	past *Stream

	mu sync.Mutex
	// last marks that work. Its handle is made with the first mark.
	last *Event
}

// lastsForever reports whether a handle is one of the driver's default streams,
// which nobody can destroy.
func (d *Device) lastsForever(handle backend.Stream) bool {
	return handle == 0 || d.info.Kind == CUDA && handle <= 2
}

// WrapStream makes a Stream of another library's handle, such as
// torch.cuda.Stream.cuda_stream.
//
// # Lifetime
//
// The other library keeps the stream and may destroy it at any time, except during
// calls that name it: calls on the Stream itself, and calls that take it as an
// argument or mean it by a nil argument. gpuframe does not touch the handle at any
// other time, in particular not when memory is released that the stream has used.
// Work that gpuframe enqueues on the stream is marked by an event in the same call.
// Work that the caller enqueues by the handle is known to gpuframe only after
// memory.Block.RecordUse was called with the stream still alive.
//
// Memory that was allocated on a wrapped stream may outlive the stream. Then give
// every later call that takes a stream another one.
//
// Marks cost one event record for each call, 0.6 µs on a GPU. Wrapping the handle
// of a default stream costs none, because those are never destroyed.
//
// Close does nothing.
func (d *Device) WrapStream(handle backend.Stream) *Stream {
	if handle == 0 {
		return d.defaultStream
	}
	s := &Stream{device: d, handle: handle}
	if d.lastsForever(handle) {
		return s
	}
	// Without an identity, streams of one handle count as one.
	identity, _ := d.driver.StreamIdentity(handle)
	last := &Event{device: d}
	f := &foreign{identity: identity, last: last}
	f.past = &Stream{device: d, handle: handle, last: last, foreign: f}
	f.past.fence.Store(last)
	runtime.AddCleanup(f.past, func(event *Event) { event.Close() }, last)
	s.foreign = f
	return s
}

// Note marks the work that is on a stream of another library now; see streamwork.Note.
func (w *streamWork) Note() error {
	if w.foreign == nil {
		return nil
	}
	return w.foreign.note((*Stream)(w))
}

func (f *foreign) note(s *Stream) error {
	if s == f.past {
		return nil
	}
	return f.mark(s)
}

// mark moves the mark to what is on the queue now. If there can be none it waits for
// the queue, which still exists.
func (f *foreign) mark(s *Stream) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	driver := s.device.driver
	if capturing, err := driver.StreamCapturing(s.handle); err != nil || capturing {
		return err
	}
	err := f.prepare(s.device)
	if err == nil {
		err = f.last.recordOn(s.handle)
	}
	if err != nil && driver.StreamSynchronize(s.handle) != nil {
		return &UnmarkedError{Err: fmt.Errorf("%v: %w", s, err)}
	}
	return nil
}

// prepare gives the mark a handle.
func (f *foreign) prepare(d *Device) error {
	if f.last.handle != 0 {
		return nil
	}
	event, err := d.NewEvent()
	if err != nil {
		return err
	}
	f.last.handle = event.handle
	return nil
}

// after marks the work of a call on a foreign stream, whatever became of the call.
func (s *Stream) after(err error) error {
	if s.foreign == nil {
		return err
	}
	if unmarked := s.foreign.mark(s); unmarked != nil {
		return errors.Join(err, unmarked)
	}
	return err
}

// recordAll returns a new event that marks the work of every stream; see
// streamwork.RecordAll.
func (d *Device) recordAll() (*Event, error) {
	d.capturing.RLock()
	defer d.capturing.RUnlock()
	if d.captures > 0 {
		return nil, fmt.Errorf("device %s: mark the work of all streams: %w", d.name, ErrCapturing)
	}
	if captured, err := d.driver.StreamCapturing(0); err != nil || captured {
		if err == nil {
			err = ErrCapturing
		}
		return nil, fmt.Errorf("device %s: mark the work of all streams: %w", d.name, err)
	}
	event, err := d.NewEvent()
	if err != nil {
		return nil, err
	}
	if err := d.driver.EventRecordAll(event.handle); err != nil {
		return nil, closeAfter(event, fmt.Errorf("device %s: mark the work of all streams: %w", d.name, err))
	}
	event.recorded.Store(true)
	return event, nil
}

// waitAll makes the stream wait for the work of all streams.
func (s *Stream) waitAll() error {
	event, err := s.device.recordAll()
	if errors.Is(err, ErrNotSupported) {
		return s.device.driver.Synchronize()
	}
	if err != nil {
		return err
	}
	return closeAfter(event, s.Wait(event))
}
