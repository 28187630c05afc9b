package staging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/cancel"
)

// growth makes the chunks that transfers want, one after the other, on a goroutine of
// its own. Pinning 4 MiB takes 1.5 ms, as long as 80 MiB take to travel: transfers go on
// with the chunks that there are meanwhile. The ring's lock guards it.
type growth struct {
	// transfers counts those under way.
	transfers int
	// wanted says that a transfer has found no chunk since the last one was begun.
	wanted bool
	// ended is closed when the goroutine ends. It is nil while none runs.
	ended chan struct{}
	// failure is why the last chunk could not be made. None is tried again before the
	// next transfer; those under way go on with what there is, if there is any.
	failure error
}

// during runs a transfer. When the last transfer has ended no chunk is being made for
// it any more.
func (r *ring) during(transfer func() error) error {
	r.mu.Lock()
	r.growth.transfers++
	r.growth.failure = nil
	r.mu.Unlock()
	err := transfer()
	r.mu.Lock()
	r.growth.transfers--
	var ended chan struct{}
	if r.growth.transfers == 0 {
		r.growth.wanted = false
		ended = r.growth.ended
	}
	r.mu.Unlock()
	if ended != nil {
		<-ended
	}
	if err != nil {
		return err
	}
	return r.lost()
}

// lost returns the failure to make a chunk if it says that the device is lost: then what
// was transferred is lost with it.
func (r *ring) lost() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(r.growth.failure, device.ErrDeviceLost) {
		return r.growth.failure
	}
	return nil
}

// want has a chunk made, if there may be another one. The caller holds mu.
func (r *ring) want() {
	g := &r.growth
	if r.created == r.limit || g.failure != nil {
		return
	}
	g.wanted = true
	if g.ended == nil {
		g.ended = make(chan struct{})
		go r.grow()
	}
}

// grow makes chunks for as long as they are wanted.
func (r *ring) grow() {
	for r.begins() {
		err := r.create()
		r.mu.Lock()
		r.growth.failure = err
		r.mu.Unlock()
		r.signal()
	}
}

// begins reports whether another chunk is wanted, and if not ends the growth.
func (r *ring) begins() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := &r.growth
	if g.wanted && g.failure == nil && r.reserve() {
		g.wanted = false
		return true
	}
	close(g.ended)
	g.ended, g.wanted = nil, false
	return false
}

// reserve counts a chunk that is going to be made. It reports false if there may be no
// more. The caller holds mu.
func (r *ring) reserve() bool {
	if r.broken != nil || r.created == r.limit {
		return false
	}
	r.created++
	r.making++
	return true
}

// create makes a chunk that was reserved. It is the first to be taken. If the ring was
// closed meanwhile the chunk is freed at once.
func (r *ring) create() error {
	c, err := newChunk(r.device, r.chunkBytes)
	r.mu.Lock()
	r.making--
	if err == nil && r.closed {
		err = r.broken
		r.mu.Unlock()
		return errors.Join(err, r.discard(c))
	}
	defer r.mu.Unlock()
	if err != nil {
		r.created--
		return fmt.Errorf("allocate %d bytes of pinned staging memory: %w", r.chunkBytes, err)
	}
	r.idle = slices.Insert(r.idle, 0, c)
	return nil
}

// warm makes all the chunks that there may be, or as many as it can until the context
// is done.
func (r *ring) warm(ctx context.Context) error {
	for {
		if err := cancel.Error(ctx); err != nil {
			return err
		}
		r.mu.Lock()
		if !r.reserve() {
			defer r.mu.Unlock()
			return r.broken
		}
		r.mu.Unlock()
		err := r.create()
		r.signal()
		if err != nil {
			return err
		}
	}
}
