package caching

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
)

// heldBlock was freed while further streams had work on it. It becomes free when the
// events that were recorded on those streams at that time have completed.
type heldBlock struct {
	node   *bestfit.Node
	cache  *streamCache
	events []*device.Event
	// closed are streams on which no event can be recorded. The block waits for
	// their last work.
	closed []*device.Stream
	// allStreams is set if any stream of the device may use the block and no event
	// could be recorded yet: the driver is too old for that, or a stream is captured.
	allStreams bool
}

// pendingStreams returns the streams that still have work.
func pendingStreams(streams []*device.Stream) (pending []*device.Stream) {
	for _, stream := range streams {
		if !workEnded(stream) {
			pending = append(pending, stream)
		}
	}
	return pending
}

func workEnded(stream *device.Stream) bool {
	done, err := stream.Done()
	return done && err == nil
}

// hold keeps a freed block until the current work of further streams has completed.
// It does not wait.
func (r *Resource) hold(node *bestfit.Node, stream *device.Stream, further []*device.Stream) error {
	h := &heldBlock{node: node}
	for _, other := range further {
		event, err := other.Record()
		switch {
		case err == nil:
			h.events = append(h.events, event)
		case workEnded(other): // its device was closed
		case errors.Is(err, device.ErrClosed) && other.Closed():
			h.closed = append(h.closed, other)
		case other == streamwork.AllStreams(r.device):
			h.allStreams = true
		default:
			// Without an event the only option is to wait. If the wait fails as
			// well, the device is lost and nothing uses its memory.
			_ = streamwait.All(other, nil)
		}
	}
	h.cache = r.lockKnowing(r.cacheOf(stream))
	node.Mark = h.cache.epochs.now()
	r.held = append(r.held, h)
	r.releaseOldest()
	r.mu.Unlock()
	if r.caches.manyStreams.Load() {
		h.cache.epochs.watch.Arm()
	}
	if r.closing.Load() {
		return r.trimClosed()
	}
	return nil
}

// reached reports whether no work is pending on the block.
func (h *heldBlock) reached() bool {
	h.events = slices.DeleteFunc(h.events, func(event *device.Event) bool {
		if done, err := event.Done(); !done || err != nil {
			return false
		}
		event.Close()
		return true
	})
	h.closed = slices.DeleteFunc(h.closed, workEnded)
	return len(h.events) == 0 && len(h.closed) == 0 && !h.allStreams
}

// markAllStreams tries again to record an event after the work of all streams.
func (h *heldBlock) markAllStreams(dev *device.Device) {
	if h.allStreams {
		if event, err := streamwork.RecordAll(dev); err == nil {
			h.events, h.allStreams = append(h.events, event), false
		}
	}
}

// pending returns one piece of the work for which the block is held.
func (h *heldBlock) pending(dev *device.Device) *pendingWork {
	switch {
	case len(h.events) > 0:
		event := h.events[0]
		return &pendingWork{
			wait: func(ctx context.Context) error {
				// The first waiter that finds the event completed closes it.
				if err := event.Wait(ctx); !errors.Is(err, device.ErrClosed) {
					return err
				}
				return nil
			},
			completed: func() {
				if at := slices.Index(h.events, event); at >= 0 {
					event.Close()
					h.events = slices.Delete(h.events, at, at+1)
				}
			},
		}
	case len(h.closed) > 0:
		stream := h.closed[0]
		return &pendingWork{
			wait: func(ctx context.Context) error { return streamwait.One(ctx, stream) },
			completed: func() {
				h.closed = slices.DeleteFunc(h.closed, func(other *device.Stream) bool { return other == stream })
			},
		}
	}
	return &pendingWork{
		wait:      func(ctx context.Context) error { return streamwait.One(ctx, streamwork.AllStreams(dev)) },
		completed: func() { h.allStreams = false },
	}
}

// wait waits until no work is pending on the block. After an error the remaining
// work stays pending.
func (h *heldBlock) wait() error {
	for len(h.events) > 0 {
		if err := h.events[0].Wait(context.Background()); err != nil {
			return err
		}
		h.events[0].Close()
		h.events = slices.Delete(h.events, 0, 1)
	}
	for len(h.closed) > 0 {
		if err := streamwait.All(h.closed[0], nil); err != nil {
			return err
		}
		h.closed = slices.Delete(h.closed, 0, 1)
	}
	if h.allStreams {
		if err := streamwait.All(streamwork.AllStreams(h.cache.stream.Device()), nil); err != nil {
			return err
		}
		h.allStreams = false
	}
	return nil
}

// releaseReached releases the held blocks that have no pending work.
func (r *Resource) releaseReached() {
	r.held = slices.DeleteFunc(r.held, func(h *heldBlock) bool {
		h.markAllStreams(r.device)
		if !h.reached() {
			return false
		}
		r.release(h.cache, h.node)
		return true
	})
}

// awaitHeld waits for the pending work of held blocks and releases them.
func (r *Resource) awaitHeld() error {
	for _, h := range r.held {
		if err := h.wait(); err != nil {
			return err
		}
	}
	r.releaseReached()
	return nil
}

// releaseOldest checks only the oldest held blocks, so that the cost of a free does
// not depend on their number.
func (r *Resource) releaseOldest() {
	const checks = 4
	for range checks {
		if len(r.held) == 0 || !r.held[0].reached() {
			return
		}
		r.release(r.held[0].cache, r.held[0].node)
		r.held = slices.Delete(r.held, 0, 1)
	}
}
