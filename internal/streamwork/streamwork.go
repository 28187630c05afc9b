// Package streamwork has the operations of a device.Stream and a device.Device by which
// memory and kernels order themselves after each other's work. Programs do not need
// them; package device hands them out by [hook.Key]. The functions of the allocation and
// launch paths are inlined.
package streamwork

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/streamwork/hook"
)

// EnqueueUncaptured is Stream.Enqueue for work that belongs to the memory and not to the
// computation, such as allocating memory in stream order: it runs once and now, also
// while the stream is captured.
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

// SynchronizeUncaptured is Stream.Synchronize for code that gives memory back: while the
// stream is captured it waits for the work that is not captured.
func SynchronizeUncaptured(s *device.Stream, ctx context.Context) error {
	return s.Work(hook.Key{}).SynchronizeUncaptured(ctx)
}

// Past returns a Stream that is safe to keep. For a stream that another library owns it
// is a closed Stream that stands for the work known to be on it; see [Note]. Every other
// Stream is returned itself. Both are Equal.
func Past(s *device.Stream) *device.Stream { return s.Work(hook.Key{}).Past() }

// Foreign reports whether another library owns the stream and may destroy it.
func Foreign(s *device.Stream) bool { return s.Work(hook.Key{}).Foreign() }

// Note marks the present work of a stream that another library owns, so that gpuframe can
// wait for it when the stream no longer exists. On every other stream it does nothing.
//
// While the other library captures the stream there is nothing to mark: the work runs
// when its graph is launched, and memory that it uses must be kept until then.
func Note(s *device.Stream) error { return s.Work(hook.Key{}).Note() }

// NewWatch makes a watch on a stream. Once it is armed, before is called ahead of the
// next work, or the next wait for an event, that is enqueued through the Stream. Work that
// is enqueued by the driver's handle does not call it. Within before no method of the
// stream may be called, only [RecordWithin].
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

// Hold passes h, which work that was just enqueued uses, to the stream's capture and
// reports true. On a stream that is not captured it does nothing and reports false.
func Hold(s *device.Stream, h hook.Held) (captured bool, err error) {
	return s.Work(hook.Key{}).Hold(h)
}

// RefuseCapture returns an error that wraps device.ErrCapturing if the stream is captured,
// for operations whose work must run now, such as copies that the host waits for.
func RefuseCapture(s *device.Stream) error { return s.Work(hook.Key{}).RefuseCapture() }

// Later schedules f for the next [RunLater]. It does not call the driver and does not
// wait. Other libraries call deleters at any time: a Python program may run one in the
// middle of a graph capture, which many calls of the driver would break.
func Later(d *device.Device, f func()) { d.Work(hook.Key{}).Later(f) }

// RunLater runs the functions that were passed to [Later] and returns when they have
// returned. Package memory calls it before it allocates. Without any it costs an atomic
// read. The functions must not call RunLater.
func RunLater(d *device.Device) { d.Work(hook.Key{}).RunLater() }

// AllStreams returns a Stream that stands for every queue of the device, including queues
// of other libraries that were destroyed. It can be waited for; no work can be enqueued
// on it. See [RecordAll] for the cost.
func AllStreams(d *device.Device) *device.Stream { return d.Work(hook.Key{}).AllStreams() }

// RecordAll returns a new event that marks the present work of every stream of the device.
// The caller closes it. It costs as much as any event; waiting for it waits for the
// slowest stream.
//
// # Errors
//
// A driver before CUDA 12.5, and a backend without this operation, return
// device.ErrNotSupported: synchronize the device instead. While a stream is captured the
// error wraps device.ErrCapturing. Captures by gpuframe, and captures that the default
// stream would have to wait for, are not harmed. The driver does not report other
// captures and makes them fail.
func RecordAll(d *device.Device) (*device.Event, error) { return d.Work(hook.Key{}).RecordAll() }
