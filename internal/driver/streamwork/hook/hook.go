// Package hook holds the types that package device and package streamwork share.
package hook

import (
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Key is the argument of device.Stream.Work and device.Device.Work. Code outside of
// this module cannot make one. It has no size.
type Key struct{ _ [0]func() }

// Held is an object that a capture keeps alive because its work uses it: memory or
// loaded code.
type Held interface {
	Retain() error
	Release() error
}

// Capture is a capture of a stream in progress.
type Capture interface {
	// End ends the capture, also after an error, and returns the graph, which the
	// caller destroys. If an operation that cannot be captured was enqueued, the error
	// wraps device.ErrCapturing.
	End() (backend.Graph, error)
}

// Watch calls a function before the next work is enqueued on a stream, once it is
// armed. It serves callers that must mark the current work of a stream only if more
// work follows: until then the end of the stream is a sufficient mark.
type Watch struct {
	armed  atomic.Bool
	before func(handle backend.Stream)
	stop   func(*Watch)
}

// NewWatch makes a watch that is not armed. Stop calls stop.
func NewWatch(before func(handle backend.Stream), stop func(*Watch)) *Watch {
	return &Watch{before: before, stop: stop}
}

// Arm requests one call. Arming an armed watch costs an atomic read.
func (w *Watch) Arm() {
	if !w.armed.Load() {
		w.armed.Store(true)
	}
}

// Run makes the call if the watch is armed, and disarms it.
func (w *Watch) Run(handle backend.Stream) {
	if w.armed.Load() && w.armed.CompareAndSwap(true, false) {
		w.before(handle)
	}
}

// Stop ends the watch. A call may still be in progress.
func (w *Watch) Stop() { w.stop(w) }
