package staging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// growth creates chunks on a background goroutine, one at a time. Pinning 4 MiB takes
// 1.5 ms, as long as transferring 80 MiB, so transfers continue with the existing
// chunks meanwhile. The ring's lock guards growth.
type growth struct {
	// transfers counts the transfers in progress.
	transfers int
	// wanted is set when a transfer has found no chunk since the last creation started.
	wanted bool
	// ended is closed when the goroutine ends, and nil while no goroutine runs.
	ended chan struct{}
	// failure is the error of the last attempt to create a chunk. The next attempt
	// waits for the next transfer; those in progress continue with the existing chunks,
	// if any.
	failure error
}

// during runs a transfer. When the last transfer ends, during waits until no chunk is
// being created.
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

// lost returns the failure to create a chunk if the device is lost: the transferred
// data is then lost too.
func (r *ring) lost() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(r.growth.failure, device.ErrDeviceLost) {
		return r.growth.failure
	}
	return nil
}

// want requests another chunk unless the limit is reached. The caller holds mu.
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

// grow creates chunks while they are requested.
func (r *ring) grow() {
	for r.begins() {
		err := r.create()
		r.mu.Lock()
		r.growth.failure = err
		r.mu.Unlock()
		r.signal()
	}
}

// begins reports whether to create another chunk. If not, it ends the growth.
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

// reserve counts a chunk that is about to be created. It reports false if the limit is
// reached or the ring is broken. The caller holds mu.
func (r *ring) reserve() bool {
	if r.broken != nil || r.created == r.limit {
		return false
	}
	r.created++
	r.making++
	return true
}

// create creates a reserved chunk, which is the next one to be taken. If the ring was
// closed meanwhile, create frees the chunk.
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

// warm creates chunks up to the limit or until the context is done.
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
