package staging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/cancel"
)

// ring is a bounded number of chunks, made when they are needed and kept until they
// are trimmed. Several transfers may share one. Chunks are made beside the transfers,
// which go on with those that there are; see growth.
type ring struct {
	device     *device.Device
	chunkBytes uint64
	limit      int

	mu sync.Mutex
	// broken says why there are no chunks any more.
	broken error
	// closed says that chunks are freed instead of kept when they come back.
	closed bool
	// created counts the chunks, those that are just being made or freed too, and
	// making those that are being made.
	created, making int
	// stuck are the chunks on which work could not be marked nor waited for. They are
	// freed when the ring is closed.
	stuck []*chunk
	// idle are the chunks that no transfer holds, the longest returned first. The
	// device may still be at work on them: their events tell.
	idle   []*chunk
	growth growth
	// returned holds a signal when a chunk has come back or was made, or none will.
	// A goroutine that takes the signal and then no chunk signals again.
	returned chan struct{}
}

func newRing(dev *device.Device, chunkBytes uint64, limit int) ring {
	return ring{device: dev, chunkBytes: chunkBytes, limit: limit, returned: make(chan struct{}, 1)}
}

// enoughOnTheWay is how many chunks keep the link busy. While the device has so many
// to copy, the next one is back before another could be made.
const enoughOnTheWay = 3

// tryTake returns a chunk that nothing uses, or nil if there is none now. Then one is
// made, unless there may be no more or the device still has enough to copy. At the
// start of a transfer the latter does not count, so that the ring grows to what short
// transfers that follow one another can use.
func (r *ring) tryTake(start bool) (*chunk, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return nil, r.broken
	}
	if len(r.idle) > 0 {
		if done, err := r.idle[0].event.Done(); err != nil {
			return nil, err
		} else if done {
			return r.pop(), nil
		}
	}
	if r.created == 0 && r.growth.failure != nil {
		return nil, r.growth.failure
	}
	if start || len(r.idle) < enoughOnTheWay {
		r.want()
	}
	return nil, nil
}

// pop removes the chunk that is likeliest to be done with. The caller holds mu.
func (r *ring) pop() *chunk {
	if len(r.idle) == 0 {
		return nil
	}
	c := r.idle[0]
	r.idle = append(r.idle[:0], r.idle[1:]...)
	if len(r.idle) > 0 {
		r.signal() // one signal may stand for several chunks
	}
	return c
}

// oldest takes the longest returned chunk and waits until the device is done with
// it. It returns nil where no chunk is idle.
func (r *ring) oldest(ctx context.Context) (*chunk, error) {
	r.mu.Lock()
	c := r.pop()
	r.mu.Unlock()
	if c == nil {
		return nil, nil
	}
	if err := c.event.Wait(ctx); err != nil {
		r.put(c)
		return nil, err
	}
	return c, nil
}

// take returns a chunk that nothing uses, waiting for one if it must.
func (r *ring) take(ctx context.Context) (*chunk, error) {
	for {
		c, err := r.tryTake(false)
		if c == nil && err == nil {
			c, err = r.oldest(ctx)
		}
		if err != nil {
			r.signal()
		}
		if c != nil || err != nil {
			return c, err
		}
		select {
		case <-r.returned:
		case <-ctx.Done():
			r.signal()
			return nil, cancel.Error(ctx)
		}
	}
}

// put gives a chunk back, whose event marks the last work on it. After close it is
// freed, once the device is done with it.
func (r *ring) put(c *chunk) {
	r.mu.Lock()
	closed := r.closed
	if !closed {
		r.idle = append(r.idle, c)
	}
	r.mu.Unlock()
	if closed {
		r.discard(c)
	}
	r.signal()
}

// discard frees a chunk of a closed ring once the device is done with it.
func (r *ring) discard(c *chunk) error {
	waiting := c.event.Wait(context.Background())
	_, freeing := c.free(r.device)
	r.mu.Lock()
	r.created--
	r.mu.Unlock()
	return errors.Join(waiting, freeing)
}

func (r *ring) signal() {
	select {
	case r.returned <- struct{}{}:
	default:
	}
}

// settle puts a chunk back after work on it was enqueued, or was not. Work whose
// end could not be marked is waited for with all else on its stream. Where that
// fails too the chunk can never be used again, nor, as it is the device that has
// failed, can any other.
func (r *ring) settle(c *chunk, stream *device.Stream, err error) {
	var unmarked *device.UnmarkedError
	if !errors.As(err, &unmarked) || quiesce(stream) == nil {
		r.put(c)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stuck = append(r.stuck, c)
	r.breakWith(err)
}

// breakWith makes every further transfer fail. The caller holds mu.
func (r *ring) breakWith(err error) {
	r.broken = err
	r.signal()
}

// stats counts as in use what transfers hold.
func (r *ring) stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{
		Limit:  uint64(r.limit) * r.chunkBytes,
		Pinned: uint64(r.created) * r.chunkBytes,
		InUse:  uint64(r.created-r.making-len(r.idle)) * r.chunkBytes,
	}
}

// trim frees idle chunks until no more than keep bytes are pinned. Freeing pinned
// memory takes the driver long, so it happens without the lock.
func (r *ring) trim(keep uint64) (released uint64, err error) {
	var failures []error
	for _, c := range r.withdraw(keep) {
		freed, err := c.free(r.device)
		failures = append(failures, err)
		if !freed {
			r.put(c)
			continue
		}
		r.forget()
		released += r.chunkBytes
	}
	return released, errors.Join(failures...)
}

// withdraw takes idle chunks that the device is done with until no more than keep
// bytes are left.
func (r *ring) withdraw(keep uint64) []*chunk {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return nil
	}
	surplus := r.created - int(min(keep/r.chunkBytes, uint64(r.created)))
	var withdrawn []*chunk
	r.idle = slices.DeleteFunc(r.idle, func(c *chunk) bool {
		if len(withdrawn) == surplus {
			return false
		}
		if done, err := c.event.Done(); !done || err != nil {
			return false
		}
		withdrawn = append(withdrawn, c)
		return true
	})
	return withdrawn
}

// forget notes that a chunk was freed. A transfer that waits for one may make its own.
func (r *ring) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created--
	r.signal()
}

// close makes further transfers fail and frees the chunks that no transfer holds once
// the device is done with them. A transfer that is under way keeps the chunks it holds:
// they are freed when it gives them back, as is a chunk that is being made.
func (r *ring) close() error {
	r.mu.Lock()
	free := append(r.idle, r.stuck...)
	r.idle, r.stuck, r.closed = nil, nil, true
	r.breakWith(fmt.Errorf("staging memory: manager: %w", device.ErrClosed))
	r.mu.Unlock()
	var failures []error
	for _, c := range free {
		failures = append(failures, r.discard(c))
	}
	return errors.Join(failures...)
}
