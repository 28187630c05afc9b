// Package streamwork contains the operations of a device.Stream and a device.Device
// that order memory and kernels after each other's work. Programs do not need them;
// package device returns them for a [hook.Key]. The functions of the allocation and
// launch paths are inlined.
package streamwork

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
)

// EnqueueUncaptured is Stream.Enqueue for work that belongs to memory rather than to a
// computation, such as an allocation in stream order: the work runs once and now, even
// if the stream is captured.
func EnqueueUncaptured(s *device.Stream, f func(handle backend.Stream) error) error {
	return s.Work(hook.Key{}).EnqueueUncaptured(f)
}

// EnqueueMarked calls f as Stream.Enqueue does and marks the work that f has enqueued.
// The stream cannot be closed in between.
//
// # Errors
//
// If f succeeds and the mark fails the error is a [*device.UnmarkedError]. Captured work
// has no mark: device.ErrCapturing.
func EnqueueMarked(s *device.Stream, event *device.Event, f func(handle backend.Stream) error) error {
	return s.Work(hook.Key{}).EnqueueMarked(event, f)
}

// SynchronizeUncaptured is Stream.Synchronize for callers that free memory: while the
// stream is captured it waits for the work that is not part of the capture.
func SynchronizeUncaptured(s *device.Stream, ctx context.Context) error {
	return s.Work(hook.Key{}).SynchronizeUncaptured(ctx)
}

// Past returns a Stream that is safe to keep. For a stream that another library owns it
// is a closed Stream that represents its known work; see [Note]. Every other Stream
// returns itself. Both are Equal.
func Past(s *device.Stream) *device.Stream { return s.Work(hook.Key{}).Past() }

// Lend notes that the stream has used memory of another device, so that closing the
// stream's device waits for its work. Afterwards the stream has no pending work.
func Lend(s *device.Stream) { s.Work(hook.Key{}).Lend() }

// Foreign reports whether another library owns the stream and may destroy it.
func Foreign(s *device.Stream) bool { return s.Work(hook.Key{}).Foreign() }

// Note marks the current work of a stream that another library owns, so that gpuframe
// can wait for it when the stream no longer exists. On every other stream it does
// nothing.
//
// While the other library captures the stream, Note marks nothing: the work runs when
// its graph is launched, and memory that it uses must be kept until then.
func Note(s *device.Stream) error { return s.Work(hook.Key{}).Note() }

// NewWatch makes a watch on a stream. Once it is armed, before is called before the
// next work, or the next wait for an event, that is enqueued through the Stream. The
// watch does not see work that is enqueued by the driver's handle. before may call no
// method of the stream except [RecordWithin].
func NewWatch(s *device.Stream, before func(handle backend.Stream)) *hook.Watch {
	return s.Work(hook.Key{}).NewWatch(before)
}

// RecordWithin is Stream.Record for use within Enqueue or a watch, with the handle that
// those pass. The caller closes the event.
func RecordWithin(s *device.Stream, handle backend.Stream) (*device.Event, error) {
	return s.Work(hook.Key{}).RecordWithin(handle)
}

// BeginCapture makes work that is enqueued by Stream.Enqueue part of a graph instead of
// running it. hold is called with everything that the work uses, on the goroutine that
// uses it.
//
// # Errors
//
// A device without graphs returns device.ErrNotSupported.
func BeginCapture(s *device.Stream, hold func(hook.Held) error) (hook.Capture, error) {
	return s.Work(hook.Key{}).BeginCapture(hold)
}

// Hold adds h to the objects of the stream's capture and returns true. Call it for work
// just enqueued that uses h. If the stream is not captured, Hold does nothing and
// returns false.
func Hold(s *device.Stream, h hook.Held) (captured bool, err error) {
	return s.Work(hook.Key{}).Hold(h)
}

// RefuseCapture returns an error that wraps device.ErrCapturing if the stream is
// captured, for operations that need their work to run now, such as copies for which
// the host waits.
func RefuseCapture(s *device.Stream) error { return s.Work(hook.Key{}).RefuseCapture() }

// Later defers f to the next [RunLater]. It makes no driver call and does not wait. It
// is for functions that other libraries call at any time, such as deleters: a Python
// program may run one in the middle of a graph capture, which many driver calls would
// invalidate.
func Later(d *device.Device, f func()) { d.Work(hook.Key{}).Later(f) }

// RunLater calls the functions that were passed to [Later] and returns when they have
// returned. Package memory calls it before it allocates. Without functions it costs an
// atomic read. The functions must not call RunLater.
func RunLater(d *device.Device) { d.Work(hook.Key{}).RunLater() }

// AllStreams returns a Stream that represents every queue of the device, including
// those of other libraries, even if they were destroyed. Callers can wait for it but
// cannot enqueue work on it. [RecordAll] documents the cost.
func AllStreams(d *device.Device) *device.Stream { return d.Work(hook.Key{}).AllStreams() }

// RecordAll returns a new event that marks the current work of every stream of the
// device. The caller closes it. It costs as much as any event; a wait for it waits for
// the slowest stream.
//
// # Errors
//
// A driver before CUDA 12.5, and a backend without this operation, return
// device.ErrNotSupported: synchronize the device instead. While a stream is captured
// the error wraps device.ErrCapturing. Captures that gpuframe began, and captures that
// the default stream would have to wait for, stay valid. The driver does not report
// other captures, and invalidates them.
func RecordAll(d *device.Device) (*device.Event, error) { return d.Work(hook.Key{}).RecordAll() }

// Arrive numbers memory that came from another library without an event. The last work on
// it may be a copy that the other library enqueued on a default stream before: cuMemcpyHtoD
// from pageable memory returns when the bytes are staged. Arrive makes no driver call.
func Arrive(d *device.Device) (arrival uint64) { return d.Work(hook.Key{}).Arrive() }

// AwaitArrival makes later work on a stream wait, on the device, until the memory has
// arrived: for the work that is on the default stream of the memory's device now, which
// includes that of the default streams of all threads. A second call for the stream makes
// no driver call until memory with a later number is used. It does nothing on a default
// stream, and on a stream that another library captures: captured work runs later.
//
// # Errors
//
// While a stream is captured that the default stream would have to wait for, the error
// wraps device.ErrCapturing. The capture stays valid.
func AwaitArrival(s *device.Stream, d *device.Device, arrival uint64) error {
	return s.Work(hook.Key{}).AwaitArrival(d, arrival)
}

// Arrived reports whether memory with a number of [Arrive] has arrived, for callers that
// read it with the processor. wait gets an event: Event.Done answers immediately.
//
// # Errors
//
// Those of [AwaitArrival] and of wait.
func Arrived(d *device.Device, arrival uint64, wait func(*device.Event) (bool, error)) (bool, error) {
	return d.Work(hook.Key{}).Arrived(arrival, wait)
}

// Mark returns a new event that marks the current work of a stream, or done if that has
// run. It waits only for a closed stream. The caller closes the event.
func Mark(s *device.Stream) (event *device.Event, done bool, err error) {
	return s.Work(hook.Key{}).Mark()
}

// WhenDone calls f on another goroutine when an event is reached, with the error of the
// wait for it. Functions run one after the other, in the order of the calls: a wait for one
// event delays the next ones. The event must not be closed before.
func WhenDone(d *device.Device, event *device.Event, f func(error)) {
	d.Work(hook.Key{}).WhenDone(event, f)
}

// AwaitDone waits until all functions that were passed to [WhenDone] have returned.
func AwaitDone(d *device.Device) { d.Work(hook.Key{}).AwaitDone() }

// AwaitAllDone is [AwaitDone] for all devices, for producers in tests, which must not be freed
// before their release has run.
func AwaitAllDone() { device.AwaitAllDone(hook.Key{}) }
