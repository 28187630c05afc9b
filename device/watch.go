package device

import (
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Watch tells whoever made it that work is about to be enqueued on a stream. It
// serves those who need to mark what is on the stream now, but only if something
// else follows: while nothing follows, the end of the stream is mark enough.
type Watch struct {
	stream *Stream
	armed  atomic.Bool
	before func(handle backend.Stream)
}

// NewWatch makes a watch, which is not armed. Once it is, before is called ahead
// of the next work, and of the next wait for an event, that is enqueued through
// the Stream; that disarms it. Of work that others enqueue by the driver's handle
// it does not know. Within before no method of the stream may be called but
// RecordWithin.
func (s *Stream) NewWatch(before func(handle backend.Stream)) *Watch {
	w := &Watch{stream: s, before: before}
	for {
		old := s.watches.Load()
		var all []*Watch
		if old != nil {
			all = slices.Clone(*old)
		}
		all = append(all, w)
		if s.watches.CompareAndSwap(old, &all) {
			return w
		}
	}
}

// Arm asks for one call. Arming what is armed does nothing and costs nothing.
func (w *Watch) Arm() {
	if !w.armed.Load() {
		w.armed.Store(true)
	}
}

// Stop ends the watch. A call may still be under way.
func (w *Watch) Stop() {
	for {
		old := w.stream.watches.Load()
		if old == nil {
			return
		}
		rest := slices.DeleteFunc(slices.Clone(*old), func(other *Watch) bool { return other == w })
		replacement := &rest
		if len(rest) == 0 {
			replacement = nil
		}
		if w.stream.watches.CompareAndSwap(old, replacement) {
			return
		}
	}
}

// beforeWork calls the armed watches.
func (s *Stream) beforeWork() {
	watches := s.watches.Load()
	if watches == nil {
		return
	}
	for _, w := range *watches {
		if w.armed.Load() && w.armed.CompareAndSwap(true, false) {
			w.before(s.handle)
		}
	}
}

// RecordWithin is [Stream.Record] for use within Enqueue or a Watch, with the
// handle that those hand out. The caller closes the event.
func (s *Stream) RecordWithin(handle backend.Stream) (*Event, error) {
	event, err := s.device.NewEvent()
	if err != nil {
		return nil, err
	}
	if err := event.recordOn(handle); err != nil {
		return nil, closeAfter(event, err)
	}
	return event, nil
}
