package device

import (
	"context"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
)

// Work returns the operations that order memory after work, for the other packages of
// this module; package internal/driver/streamwork documents them. Programs cannot call it.
func (s *Stream) Work(hook.Key) *streamWork { return (*streamWork)(s) }

// Work is [Stream.Work] for operations on the whole device.
func (d *Device) Work(hook.Key) *deviceWork { return (*deviceWork)(d) }

// streamWork and deviceWork are the results of Work: the same values with other
// methods.
type (
	streamWork Stream
	deviceWork Device
)

func (w *streamWork) EnqueueUncaptured(f func(handle backend.Stream) error) error {
	return (*Stream)(w).enqueueUncaptured(f)
}

func (w *streamWork) EnqueueMarked(event *Event, f func(handle backend.Stream) error) error {
	return (*Stream)(w).enqueueMarked(event, f)
}

func (w *streamWork) SynchronizeUncaptured(ctx context.Context) error {
	return (*Stream)(w).synchronizeUncaptured(ctx)
}

// Mark marks the current work of the stream; see streamwork.Mark.
func (w *streamWork) Mark() (event *Event, done bool, err error) {
	s := (*Stream)(w)
	if s.device.ended.Load() {
		return nil, true, nil
	}
	if s.lastOfClosed() != nil {
		err := s.synchronizeMark(context.Background())
		return nil, err == nil, err
	}
	if event, err = s.Record(); err != nil {
		return nil, false, err
	}
	if done, err = pollFor(markPolls, event.Done); done || err != nil {
		return nil, done, closeAfter(event, err)
	}
	return event, false, nil
}

func (w *streamWork) Past() *Stream {
	if w.foreign == nil {
		return (*Stream)(w)
	}
	return w.foreign.past
}

func (w *streamWork) Lend() {
	if !w.device.lent.Load() {
		w.device.lent.Store(true)
	}
}

func (w *streamWork) Foreign() bool { return w.foreign != nil }

func (w *streamWork) NewWatch(before func(handle backend.Stream)) *hook.Watch {
	return (*Stream)(w).newWatch(before)
}

func (w *streamWork) RecordWithin(handle backend.Stream) (*Event, error) {
	return (*Stream)(w).recordWithin(handle)
}

func (w *streamWork) BeginCapture(hold func(hook.Held) error) (hook.Capture, error) {
	return (*Stream)(w).beginCapture(hold)
}

func (w *streamWork) RefuseCapture() error { return (*Stream)(w).refuseCapture() }

func (w *deviceWork) AllStreams() *Stream { return w.allStreams }

func (w *deviceWork) RecordAll() (*Event, error) { return (*Device)(w).recordAll() }
