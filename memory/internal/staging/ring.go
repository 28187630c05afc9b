package staging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// ring is a pool with a bounded number of chunks. Chunks are created on demand and kept
// until they are trimmed. Several transfers may share a ring. They continue with the
// existing chunks while another is created; see growth.
type ring struct {
	device     *device.Device
	chunkBytes uint64
	limit      int

	mu sync.Mutex
	// broken is the reason why the ring can no longer provide chunks.
	broken error
	// closed is set when returned chunks are freed instead of kept.
	closed bool
	// created counts the chunks, including those being created or freed. making counts
	// those being created.
	created, making int
	// stuck are the chunks with work that could neither be marked by an event nor
	// waited for. They are freed when the ring is closed.
	stuck []*chunk
	// idle are the chunks that no transfer holds, in the order of their return. The
	// device may still access a chunk until its event is reached.
	idle   []*chunk
	growth growth
	// returned holds a signal after a chunk was returned or created, or if none will
	// be. A goroutine that receives the signal but takes no chunk must signal again.
	returned chan struct{}
}

func newRing(dev *device.Device, chunkBytes uint64, limit int) ring {
	return ring{device: dev, chunkBytes: chunkBytes, limit: limit, returned: make(chan struct{}, 1)}
}

// enoughOnTheWay is the number of chunks that keep the link busy. While the device has
// that number to copy, the next one returns before another could be created.
const enoughOnTheWay = 3

// tryTake returns a chunk that is not in use, or nil if none is available. In the
// latter case it requests another chunk, unless the limit is reached or the device
// still has enough chunks to copy. At the start of a transfer the second condition does
// not apply, so that the ring grows to the size that consecutive short transfers can
// use.
func (r *ring) tryTake(start bool) (*chunk, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return nil, r.broken
	}
	if c, err := r.finished(); c != nil || err != nil {
		return c, err
	}
	if r.created == 0 && r.growth.failure != nil {
		return nil, r.growth.failure
	}
	if start || len(r.idle) < enoughOnTheWay {
		r.want()
	}
	return nil, nil
}

// finished takes a chunk that the device has finished with: one that is known to be, or that
// which was returned first. The caller holds mu, which is released while the driver is asked: it
// has a lock that all streams take.
func (r *ring) finished() (*chunk, error) {
	if i := slices.IndexFunc(r.idle, func(c *chunk) bool { return c.done }); i >= 0 {
		return r.pop(i), nil
	}
	if len(r.idle) == 0 {
		return nil, nil
	}
	c := r.pop(0)
	r.mu.Unlock()
	done, err := c.event.Done()
	if r.mu.Lock(); r.closed {
		r.mu.Unlock()
		err = r.discard(c)
		r.mu.Lock()
		return nil, errors.Join(r.broken, err)
	}
	if done && err == nil {
		return c, nil
	}
	r.idle = slices.Insert(r.idle, 0, c)
	r.signal()
	return nil, err
}

// pop removes an idle chunk. The caller holds mu.
func (r *ring) pop(i int) *chunk {
	c := r.idle[i]
	r.idle = slices.Delete(r.idle, i, i+1)
	if len(r.idle) > 0 {
		r.signal() // one signal may stand for several chunks
	}
	return c
}

// oldest takes the chunk that was returned first and waits until the device has
// finished with it. It returns nil if no chunk is idle.
func (r *ring) oldest(ctx context.Context) (*chunk, error) {
	r.mu.Lock()
	if len(r.idle) == 0 {
		r.mu.Unlock()
		return nil, nil
	}
	c := r.pop(0)
	r.mu.Unlock()
	if err := c.event.Wait(ctx); err != nil {
		r.put(c)
		return nil, err
	}
	return c, nil
}

// take returns a chunk that is not in use. It waits for one if necessary.
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

// put returns a chunk to the ring. The chunk's event marks the last work on it. If the
// ring is closed, put waits for that work and frees the chunk.
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

// discard frees a chunk of a closed ring after the device has finished with it.
func (r *ring) discard(c *chunk) error {
	waiting := c.event.Wait(context.Background())
	_, freeing := c.free()
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

// giveBack returns a chunk after an attempt to enqueue work on it. If the end of the work
// could not be marked, giveBack waits for all work on the stream. If that also fails, the
// chunk cannot be reused, and the ring is broken because the device has failed.
func (r *ring) giveBack(c *chunk, stream *device.Stream, err error) {
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

// breakWith makes all further transfers fail. The caller holds mu.
func (r *ring) breakWith(err error) {
	r.broken = err
	r.signal()
}

// stats returns the statistics. Chunks that transfers hold count as in use.
func (r *ring) stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{
		Limit:  uint64(r.limit) * r.chunkBytes,
		Pinned: uint64(r.created) * r.chunkBytes,
		InUse:  uint64(r.created-r.making-len(r.idle)) * r.chunkBytes,
	}
}

// trim frees idle chunks until at most keep bytes are pinned. It does not hold the lock
// while it frees them, because freeing pinned memory is slow.
func (r *ring) trim(keep uint64) (released uint64, err error) {
	var failures []error
	for _, c := range r.withdraw(keep) {
		freed, err := c.free()
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

// withdraw removes idle chunks that the device has finished with until at most keep
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

// forget counts a freed chunk. A waiting transfer may then create another one.
func (r *ring) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created--
	r.signal()
}

// close makes further transfers fail and frees the idle and the stuck chunks after the
// device has finished with them. A transfer in progress keeps its chunks; each is freed
// when it is returned, as is a chunk that is being created.
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
