package caching

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// errRetired says that a front was forgotten while it was being used: the stream
// has, or will get, another one.
var errRetired = errors.New("the front is retired")

// lockWith locks the resource while it knows the front, or the one that has
// followed it.
func (r *Resource) lockWith(f *front) *front {
	for {
		r.mu.Lock()
		if r.owners[f.number] == f {
			return f
		}
		r.mu.Unlock()
		f = r.front(f.stream)
	}
}

// allocate serves what the front has no block for.
func (r *Resource) allocate(ctx context.Context, f *front, size uint64) (*bestfit.Node, error) {
	pool := r.pool(size)
	node, err := r.search(f, pool, size)
	for _, callback := range r.options.OnFailure {
		if err == nil || !errors.Is(err, device.ErrOutOfMemory) {
			break
		}
		if callback(size) {
			node, err = r.search(f, pool, size)
		}
	}
	if err == nil || !errors.Is(err, device.ErrOutOfMemory) {
		return node, err
	}
	return r.lastResort(ctx, f, pool, size)
}

// search goes through what needs nobody's help, from the cheapest on.
func (r *Resource) search(f *front, pool uint8, size uint64) (*bestfit.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owners[f.number] != f {
		return nil, errRetired
	}
	if r.closing.Load() {
		return nil, fmt.Errorf("memory: allocate: caching resource: %w", device.ErrClosed)
	}
	r.clock++
	if node := r.fit(f, pool, size); node != nil {
		r.hits++
		return node, nil
	}
	r.gather()
	if node := r.fit(f, pool, size); node != nil {
		r.hits++
		return node, nil
	}
	if node, err := r.takeOver(f, pool, size, false); node != nil || err != nil {
		return node, err
	}
	node, err := r.grow(f, pool, size)
	if err == nil {
		r.misses++
		return node, nil
	}
	if !errors.Is(err, device.ErrOutOfMemory) {
		return nil, err
	}
	if node, waiting := r.takeOver(f, pool, size, true); node != nil || waiting != nil {
		return node, waiting
	}
	return nil, err
}

// lastResort joins what is idle, whoever used it, and gives cached memory back so
// that the driver has room for the request: first what is idle, then what work is
// pending on, after that work. It waits without the lock, for one piece of work after
// the other, until the request can be served or no work is left to wait for.
func (r *Resource) lastResort(ctx context.Context, f *front, pool uint8, size uint64) (*bestfit.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keep := r.reserved - min(r.reserved, size)
	for {
		if r.owners[f.number] != f {
			return nil, errRetired
		}
		if r.closing.Load() {
			return nil, fmt.Errorf("memory: allocate: caching resource: %w", device.ErrClosed)
		}
		r.gather()
		node, err := r.squeeze(f, pool, size, keep)
		if err == nil || !errors.Is(err, device.ErrOutOfMemory) {
			return node, err
		}
		if keep > 0 {
			keep = 0
			continue
		}
		work := r.somePending()
		if work == nil {
			return nil, r.outOfMemory(size, err)
		}
		if err := r.await(ctx, work); err != nil {
			return nil, err
		}
	}
}

// squeeze serves a request from everything that is idle, and gives back what stays
// idle beyond keep bytes.
func (r *Resource) squeeze(f *front, pool uint8, size, keep uint64) (*bestfit.Node, error) {
	if err := r.unite(false); err != nil {
		return nil, err
	}
	if node := r.fit(f, pool, size); node != nil {
		r.hits++
		return node, nil
	}
	if err := r.ground.trim(keep); err != nil {
		return nil, err
	}
	node, err := r.grow(f, pool, size)
	if err == nil {
		r.misses++
	}
	return node, err
}

// somePending returns work that is pending on cached memory, or nil.
func (r *Resource) somePending() *pendingWork {
	if len(r.held) > 0 {
		return r.held[0].pending(r.device)
	}
	for _, f := range r.owners[1:] {
		if f == nil {
			continue
		}
		if epoch, any := f.oldestPending(&r.space); any {
			return f.epochs.pending(epoch)
		}
	}
	return nil
}

// await waits for work without the resource's lock, which is held before and after.
func (r *Resource) await(ctx context.Context, work *pendingWork) error {
	r.mu.Unlock()
	err := work.wait(ctx)
	r.mu.Lock()
	if err != nil {
		return fmt.Errorf("memory: allocate: wait for work on cached memory: %w", err)
	}
	work.settled()
	return nil
}

// pool returns the pool that serves a size.
func (r *Resource) pool(size uint64) uint8 {
	if size <= r.options.SmallBytes {
		return smallPool
	}
	return largePool
}

// fit finds a free block for the stream and cuts it to size. Memory that nobody
// uses any more fits every stream.
func (r *Resource) fit(f *front, pool uint8, size uint64) *bestfit.Node {
	owner := f
	node := r.suitable(f, pool, size)
	if common := r.suitable(r.common, pool, size); common != nil && (node == nil || common.Bytes < node.Bytes) {
		owner, node = r.common, common
	}
	if node == nil {
		return nil
	}
	r.delist(owner, node)
	return r.cut(f, node, size)
}

// suitable returns the best fit among the free blocks of a front. What is
// oversize is not split, but for requests that are oversize too.
func (r *Resource) suitable(f *front, pool uint8, size uint64) *bestfit.Node {
	node := f.free[pool].Find(&r.space, size)
	oversize := r.options.OversizeBytes
	if node == nil || oversize == 0 || node.Bytes < oversize {
		return node
	}
	if size < oversize || node.Bytes-size >= r.options.LargeSegmentBytes {
		return nil
	}
	return node
}

// takeOver finds a free block that another stream used last. Unless wait is set
// that use must be over.
func (r *Resource) takeOver(f *front, pool uint8, size uint64, wait bool) (*bestfit.Node, error) {
	var owner *front
	var node *bestfit.Node
	for _, other := range r.owners[1:] {
		if other == nil || other == f {
			continue
		}
		found := r.suitable(other, pool, size)
		if found != nil && (node == nil || found.Bytes < node.Bytes) && (wait || other.epochs.ask(found.Mark)) {
			owner, node = other, found
		}
	}
	if node == nil || wait && f.stream == nil {
		return nil, nil
	}
	if wait {
		if err := owner.epochs.before(f.stream, node.Mark); err != nil {
			return nil, err
		}
		r.waits++
	}
	r.delist(owner, node)
	r.crossed++
	// To the stream the memory is as if it had freed it now.
	node.Mark = f.epochs.now()
	return r.cut(f, node, size), nil
}

// grow gets memory from the driver, after what is old was given back where there
// is much.
func (r *Resource) grow(f *front, pool uint8, size uint64) (*bestfit.Node, error) {
	limit := r.limit.Load()
	if threshold := r.threshold(limit); r.reserved+size > threshold {
		if err := r.ground.collect(threshold - min(threshold, size)); err != nil {
			return nil, err
		}
	}
	node, err := r.ground.grow(pool, f, size, limit-min(limit, r.reserved))
	if err != nil {
		return nil, err
	}
	r.peak = max(r.peak, r.reserved)
	r.frontBytes.Store(max(r.reserved/frontShare, leastFrontBytes))
	r.shrinking.grown(r.reserved - r.free - (node.Bytes - size))
	return r.cut(f, node, size), nil
}

// threshold returns how much may be reserved before old segments are given back.
func (r *Resource) threshold(limit uint64) uint64 {
	if r.options.CollectAbove >= 1 {
		return math.MaxUint64
	}
	if limit == math.MaxUint64 {
		limit = r.device.Info().TotalMemory
	}
	return uint64(float64(limit) * r.options.CollectAbove)
}
