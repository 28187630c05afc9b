package caching

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
)

// heldBlock was freed while further streams had work on it. It becomes free when
// the events are reached that were recorded on them then.
type heldBlock struct {
	node   *bestfit.Node
	front  *front
	events []*device.Event
	// closed are streams that no event can be recorded on: their last work is
	// what counts.
	closed []*device.Stream
	// everything says that any stream of the device may use the block, and could not
	// be marked yet: the driver is too old for that, or a stream is captured.
	everything bool
}

// pendingStreams returns those streams that still have work.
func pendingStreams(streams []*device.Stream) (pending []*device.Stream) {
	for _, stream := range streams {
		if done, err := stream.Done(); !done || err != nil {
			pending = append(pending, stream)
		}
	}
	return pending
}

// hold keeps a freed block until what further streams have now is done. The
// caller does not wait.
func (r *Resource) hold(node *bestfit.Node, stream *device.Stream, further []*device.Stream) error {
	h := &heldBlock{node: node}
	for _, other := range further {
		event, err := other.Record()
		switch {
		case err == nil:
			h.events = append(h.events, event)
		case errors.Is(err, device.ErrClosed) && other.Closed():
			h.closed = append(h.closed, other)
		case other == r.device.AllStreams():
			h.everything = true
		default:
			// Without a mark there is but to wait. If that fails too the device
			// is lost, and nobody uses its memory any more.
			_ = streamwait.All(other, nil)
		}
	}
	h.front = r.lockWith(r.front(stream))
	node.Mark = h.front.epochs.now()
	r.held = append(r.held, h)
	r.settleSome()
	r.mu.Unlock()
	if r.fronts.shared.Load() {
		h.front.epochs.watch.Arm()
	}
	if r.closing.Load() {
		return r.trimClosed()
	}
	return nil
}

// reached reports whether nothing is pending on the block any more.
func (h *heldBlock) reached() bool {
	h.events = slices.DeleteFunc(h.events, func(event *device.Event) bool {
		if done, err := event.Done(); !done || err != nil {
			return false
		}
		event.Close()
		return true
	})
	h.closed = slices.DeleteFunc(h.closed, func(stream *device.Stream) bool {
		done, err := stream.Done()
		return done && err == nil
	})
	return len(h.events) == 0 && len(h.closed) == 0 && !h.everything
}

// mark tries again to mark the work of all streams.
func (h *heldBlock) mark(dev *device.Device) {
	if h.everything {
		if event, err := dev.RecordAll(); err == nil {
			h.events, h.everything = append(h.events, event), false
		}
	}
}

// pending returns some of the work that the block is held for.
func (h *heldBlock) pending(dev *device.Device) *pendingWork {
	switch {
	case len(h.events) > 0:
		event := h.events[0]
		return &pendingWork{
			wait: func(ctx context.Context) error {
				// Whoever finds it reached first closes it.
				if err := event.Wait(ctx); !errors.Is(err, device.ErrClosed) {
					return err
				}
				return nil
			},
			settled: func() {
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
			settled: func() {
				h.closed = slices.DeleteFunc(h.closed, func(other *device.Stream) bool { return other == stream })
			},
		}
	}
	return &pendingWork{
		wait:    func(ctx context.Context) error { return streamwait.One(ctx, dev.AllStreams()) },
		settled: func() { h.everything = false },
	}
}

// wait waits until that is so. What it fails to wait for stays pending.
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
	if h.everything {
		if err := streamwait.All(h.front.stream.Device().AllStreams(), nil); err != nil {
			return err
		}
		h.everything = false
	}
	return nil
}

// settleHeld frees the held blocks that nothing is pending on.
func (r *Resource) settleHeld() {
	r.held = slices.DeleteFunc(r.held, func(h *heldBlock) bool {
		h.mark(r.device)
		if !h.reached() {
			return false
		}
		r.give(h.front, h.node)
		return true
	})
}

// awaitHeld waits for what is pending on held blocks, and frees them.
func (r *Resource) awaitHeld() error {
	for _, h := range r.held {
		if err := h.wait(); err != nil {
			return err
		}
	}
	r.settleHeld()
	return nil
}

// settleSome looks at the oldest held blocks only, so that freeing costs the same
// however many there are.
func (r *Resource) settleSome() {
	const some = 4
	for range some {
		if len(r.held) == 0 || !r.held[0].reached() {
			return
		}
		r.give(r.held[0].front, r.held[0].node)
		r.held = slices.Delete(r.held, 0, 1)
	}
}
