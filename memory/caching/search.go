package caching

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// errRetired reports that a stream cache was retired while a request used it. The
// stream has, or will get, another cache.
var errRetired = errors.New("the stream cache is retired")

// lockKnowing locks the resource and returns the cache, or its replacement if the
// cache was retired.
func (r *Resource) lockKnowing(cache *streamCache) *streamCache {
	for {
		r.mu.Lock()
		if r.owners[cache.number] == cache {
			return cache
		}
		r.mu.Unlock()
		cache = r.cacheOf(cache.stream)
	}
}

// allocate serves a request for which the stream cache has no block.
func (r *Resource) allocate(ctx context.Context, cache *streamCache, size uint64) (*bestfit.Node, error) {
	pool := r.pool(size)
	node, err := r.search(cache, pool, size)
	for _, callback := range r.options.OnFailure {
		if err == nil || !errors.Is(err, device.ErrOutOfMemory) {
			break
		}
		if callback(size) {
			node, err = r.search(cache, pool, size)
		}
	}
	if err == nil || !errors.Is(err, device.ErrOutOfMemory) {
		return node, err
	}
	return r.reclaim(ctx, cache, pool, size)
}

// search tries all steps that do not wait, the cheapest first.
func (r *Resource) search(cache *streamCache, pool uint8, size uint64) (*bestfit.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owners[cache.number] != cache {
		return nil, errRetired
	}
	if r.closing.Load() {
		return nil, fmt.Errorf("memory: allocate: caching resource: %w", device.ErrClosed)
	}
	r.clock++
	if node := r.fit(cache, pool, size); node != nil {
		r.hits++
		return node, nil
	}
	grows := r.growsFirst(size)
	if grows {
		r.flushOne(cache)
	} else {
		r.flush()
	}
	if node := r.fit(cache, pool, size); node != nil {
		r.hits++
		return node, nil
	}
	if !grows {
		if node, err := r.takeFromOther(cache, pool, size, false); node != nil || err != nil {
			return node, err
		}
	}
	node, err := r.grow(cache, pool, size)
	if err == nil {
		r.misses++
		if grows { // what is free now is that of other streams
			r.shrinking.grown(r.reserved)
		}
		return node, nil
	}
	if !errors.Is(err, device.ErrOutOfMemory) {
		return nil, err
	}
	if grows {
		r.flush()
		if node := r.fit(cache, pool, size); node != nil {
			r.hits++
			return node, nil
		}
	}
	if node, waiting := r.takeFromOther(cache, pool, size, true); node != nil || waiting != nil {
		return node, waiting
	}
	return nil, err
}

// Streams in use from which on memory of other streams is not looked for first, and the part of
// the memory that is then taken from the driver instead.
const (
	manyCaches = 4
	readyShare = 4
)

// growsFirst reports whether a request is served by new memory before that of other streams. Each
// search asks the driver for the work of every stream, under the lock that all of them take: with
// sixteen streams of queries that waits longer than the kernels. It also leaves the slots of other
// streams as they are: each would miss its next requests, and empty the slots of the others then.
func (r *Resource) growsFirst(size uint64) bool {
	limit := r.limit.Load()
	if limit == math.MaxUint64 {
		limit = r.device.Info().TotalMemory
	}
	live := 0
	for _, cache := range r.owners {
		if cache != nil {
			live++
		}
	}
	return live > manyCaches && r.reserved+size <= limit/readyShare
}

// reclaim merges idle memory of all streams and releases cached memory, so that the
// driver has room for the request. If that is not enough it waits for the work that
// is pending on cached memory, one piece of work at a time and without the lock,
// until it can serve the request or no work is left.
func (r *Resource) reclaim(ctx context.Context, cache *streamCache, pool uint8, size uint64) (*bestfit.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keep := r.reserved - min(r.reserved, size)
	for {
		if r.owners[cache.number] != cache {
			return nil, errRetired
		}
		if r.closing.Load() {
			return nil, fmt.Errorf("memory: allocate: caching resource: %w", device.ErrClosed)
		}
		r.flush()
		node, err := r.allocateFromIdle(cache, pool, size, keep)
		if err == nil || !errors.Is(err, device.ErrOutOfMemory) {
			return node, err
		}
		if keep > 0 {
			keep = 0
			continue
		}
		work := r.pendingWork()
		if work == nil {
			return nil, r.outOfMemory(size, err)
		}
		if err := r.await(ctx, work); err != nil {
			return nil, err
		}
	}
}

// allocateFromIdle serves a request from all idle memory. If no run is large enough,
// it releases idle memory above keep bytes and grows.
func (r *Resource) allocateFromIdle(cache *streamCache, pool uint8, size, keep uint64) (*bestfit.Node, error) {
	if err := r.coalesceIdle(false); err != nil {
		return nil, err
	}
	if node := r.fit(cache, pool, size); node != nil {
		r.hits++
		return node, nil
	}
	if err := r.segments.trim(keep); err != nil {
		return nil, err
	}
	node, err := r.grow(cache, pool, size)
	if err == nil {
		r.misses++
	}
	return node, err
}

// pendingWork returns one piece of work that is pending on cached memory, or nil.
func (r *Resource) pendingWork() *pendingWork {
	if len(r.held) > 0 {
		return r.held[0].pending(r.device)
	}
	for _, cache := range r.owners[1:] {
		if cache == nil {
			continue
		}
		if epoch, any := cache.oldestPending(&r.space); any {
			return cache.epochs.pending(epoch)
		}
	}
	return nil
}

// await releases the resource's lock while it waits for work.
func (r *Resource) await(ctx context.Context, work *pendingWork) error {
	r.mu.Unlock()
	err := work.wait(ctx)
	r.mu.Lock()
	if err != nil {
		return fmt.Errorf("memory: allocate: wait for work on cached memory: %w", err)
	}
	work.completed()
	return nil
}

// pool returns the pool that serves a size.
func (r *Resource) pool(size uint64) uint8 {
	if size <= r.options.SmallBytes {
		return smallPool
	}
	return largePool
}

// fit takes the best free run of the stream's cache or of the shared one.
func (r *Resource) fit(cache *streamCache, pool uint8, size uint64) *bestfit.Node {
	owner := cache
	node := r.suitable(cache, pool, size)
	if common := r.suitable(r.shared, pool, size); common != nil && (node == nil || common.Bytes < node.Bytes) {
		owner, node = r.shared, common
	}
	if node == nil {
		return nil
	}
	r.removeFree(owner, node)
	return r.allocateFrom(cache, node, size)
}

// suitable returns the best fit among the free runs of a cache. Oversize runs are
// split only for oversize requests.
func (r *Resource) suitable(cache *streamCache, pool uint8, size uint64) *bestfit.Node {
	node := cache.free[pool].Find(&r.space, size)
	oversize := r.options.OversizeBytes
	if node == nil || oversize == 0 || node.Bytes < oversize {
		return node
	}
	if size < oversize || node.Bytes-size >= r.options.LargeSegmentBytes {
		return nil
	}
	return node
}

// takeFromOther takes a free run that another stream used last. If that use has not
// completed, the run is taken only if wait is set, and the stream waits for the use.
func (r *Resource) takeFromOther(cache *streamCache, pool uint8, size uint64, wait bool) (*bestfit.Node, error) {
	var owner *streamCache
	var node *bestfit.Node
	for _, other := range r.owners[1:] {
		if other == nil || other == cache {
			continue
		}
		candidate := r.suitable(other, pool, size)
		if candidate != nil && (node == nil || candidate.Bytes < node.Bytes) && (wait || other.epochs.poll(candidate.Mark)) {
			owner, node = other, candidate
		}
	}
	if node == nil || wait && cache.stream == nil {
		return nil, nil
	}
	if wait {
		if err := owner.epochs.orderAfter(cache.stream, node.Mark); err != nil {
			return nil, err
		}
		r.waits++
	}
	r.removeFree(owner, node)
	r.crossStream++
	// For the stream of the request, the memory counts as freed now.
	node.Mark = cache.epochs.now()
	return r.allocateFrom(cache, node, size), nil
}

// grow gets memory from the driver. Above the threshold it first releases memory
// that has long been unused.
func (r *Resource) grow(cache *streamCache, pool uint8, size uint64) (*bestfit.Node, error) {
	limit := r.limit.Load()
	if threshold := r.threshold(limit); r.reserved+size > threshold {
		if err := r.segments.collect(threshold - min(threshold, size)); err != nil {
			return nil, err
		}
	}
	node, err := r.segments.grow(pool, cache, size, limit-min(limit, r.reserved))
	if err != nil {
		return nil, err
	}
	r.peak = max(r.peak, r.reserved)
	r.cacheBytes.Store(max(r.reserved/cacheShare, leastCacheBytes))
	r.shrinking.grown(r.reserved - r.freeBytes - (node.Bytes - size))
	return r.allocateFrom(cache, node, size), nil
}

// threshold returns the number of reserved bytes above which long unused segments
// are released.
func (r *Resource) threshold(limit uint64) uint64 {
	if r.options.CollectAbove >= 1 {
		return math.MaxUint64
	}
	if limit == math.MaxUint64 {
		limit = r.device.Info().TotalMemory
	}
	return uint64(float64(limit) * r.options.CollectAbove)
}
