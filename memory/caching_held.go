package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/bestfit"
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
func (r *CachingResource) hold(node *bestfit.Node, stream *device.Stream, further []*device.Stream) error {
	h := &heldBlock{node: node}
	for _, other := range further {
		event, err := other.Record()
		switch {
		case err == nil:
			h.events = append(h.events, event)
		case errors.Is(err, ErrClosed) && other.Closed():
			h.closed = append(h.closed, other)
		default:
			// Without a mark there is but to wait. If that fails too the device
			// is lost, and nobody uses its memory any more.
			_ = synchronizeAll(other, nil)
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
	return len(h.events) == 0 && len(h.closed) == 0
}

// wait waits until that is so. Where waiting fails the device is lost.
func (h *heldBlock) wait() {
	for _, event := range h.events {
		event.Wait(context.Background())
		event.Close()
	}
	for _, stream := range h.closed {
		_ = synchronizeAll(stream, nil)
	}
	h.events, h.closed = nil, nil
}

// settleHeld frees the held blocks that nothing is pending on, or waits for all.
func (r *CachingResource) settleHeld(wait bool) {
	r.held = slices.DeleteFunc(r.held, func(h *heldBlock) bool {
		if wait {
			h.wait()
		}
		if !h.reached() {
			return false
		}
		r.give(h.front, h.node)
		return true
	})
}

// settleSome looks at the oldest held blocks only, so that freeing costs the same
// however many there are.
func (r *CachingResource) settleSome() {
	const some = 4
	for range some {
		if len(r.held) == 0 || !r.held[0].reached() {
			return
		}
		r.give(r.held[0].front, r.held[0].node)
		r.held = slices.Delete(r.held, 0, 1)
	}
}
