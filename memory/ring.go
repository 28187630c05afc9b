package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
)

// ring is a bounded number of chunks of pinned memory, made when they are first
// needed. Several transfers may share one.
type ring struct {
	device     *device.Device
	chunkBytes uint64
	limit      int

	mu sync.Mutex
	// broken says why there are no chunks any more.
	broken  error
	created int
	all     []*chunk
	// idle are the chunks that no transfer holds, the longest returned first. The
	// device may still be at work on them: their events tell.
	idle []*chunk
	// returned holds a signal when a chunk has come back, or none will. Who takes
	// the signal and then no chunk signals again.
	returned chan struct{}
}

// chunk is a piece of pinned memory and the event of its last copy.
type chunk struct {
	pointer unsafe.Pointer
	memory  []byte
	event   *device.Event
}

// tryTake returns a chunk that nothing uses, or nil where all are in use and there
// may be no more.
func (r *ring) tryTake() (*chunk, error) {
	r.mu.Lock()
	if r.broken != nil {
		defer r.mu.Unlock()
		return nil, r.broken
	}
	if len(r.idle) > 0 {
		if done, err := r.idle[0].event.Done(); done || err != nil {
			defer r.mu.Unlock()
			if err != nil {
				return nil, err
			}
			return r.pop(), nil
		}
	}
	if r.created == r.limit {
		r.mu.Unlock()
		return nil, nil
	}
	r.created++
	r.mu.Unlock()
	return r.create()
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
		c, err := r.tryTake()
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
			return nil, context.Cause(ctx)
		}
	}
}

// put gives a chunk back, whose event marks the last work on it.
func (r *ring) put(c *chunk) {
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	r.signal()
}

func (r *ring) signal() {
	select {
	case r.returned <- struct{}{}:
	default:
	}
}

func (r *ring) create() (*chunk, error) {
	c, err := r.allocate()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.created--
		r.signal() // whoever waits may try for himself
		return nil, fmt.Errorf("allocate pinned staging memory: %w", err)
	}
	r.all = append(r.all, c)
	return c, nil
}

func (r *ring) allocate() (*chunk, error) {
	pointer, err := r.device.Driver().HostAlloc(r.chunkBytes)
	if err != nil {
		return nil, err
	}
	event, err := r.device.NewEvent()
	if err != nil {
		return nil, errors.Join(err, r.device.Driver().HostFree(pointer))
	}
	return &chunk{pointer: pointer, memory: unsafe.Slice((*byte)(pointer), r.chunkBytes), event: event}, nil
}

// close frees the chunks once the device is done with them. No transfer may be
// under way.
func (r *ring) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var failures []error
	for _, c := range r.all {
		failures = append(failures, c.event.Wait(context.Background()),
			c.event.Close(), r.device.Driver().HostFree(c.pointer))
	}
	r.all, r.idle = nil, nil
	r.breakWith(fmt.Errorf("staging memory: manager: %w", ErrClosed))
	return errors.Join(failures...)
}

// breakWith makes every further transfer fail. The caller holds mu.
func (r *ring) breakWith(err error) {
	r.broken = err
	r.signal()
}

// settle puts a chunk back after work on it was enqueued, or was not. Where the
// end of that work could not be marked the chunk can never be used again, nor,
// as it is the device that has failed, can any other.
func (r *ring) settle(c *chunk, err error) {
	var unmarked *device.UnmarkedError
	if !errors.As(err, &unmarked) {
		r.put(c)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.breakWith(err)
}
