package device

import (
	"slices"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
)

// newWatch makes a watch on the stream; see streamwork.NewWatch.
func (s *Stream) newWatch(before func(handle backend.Stream)) *hook.Watch {
	w := hook.NewWatch(before, s.stopWatch)
	for {
		old := s.watches.Load()
		var all []*hook.Watch
		if old != nil {
			all = slices.Clone(*old)
		}
		all = append(all, w)
		if s.watches.CompareAndSwap(old, &all) {
			return w
		}
	}
}

func (s *Stream) stopWatch(w *hook.Watch) {
	for {
		old := s.watches.Load()
		if old == nil {
			return
		}
		rest := slices.DeleteFunc(slices.Clone(*old), func(other *hook.Watch) bool { return other == w })
		replacement := &rest
		if len(rest) == 0 {
			replacement = nil
		}
		if s.watches.CompareAndSwap(old, replacement) {
			return
		}
	}
}

// beforeWork runs the armed watches.
func (s *Stream) beforeWork() {
	watches := s.watches.Load()
	if watches == nil {
		return
	}
	for _, w := range *watches {
		w.Run(s.handle)
	}
}

// recordWithin is Record for calls within Enqueue or a watch.
func (s *Stream) recordWithin(handle backend.Stream) (*Event, error) {
	event, err := s.device.NewEvent()
	if err != nil {
		return nil, err
	}
	if err := event.recordOn(handle); err != nil {
		return nil, closeAfter(event, err)
	}
	return event, nil
}
