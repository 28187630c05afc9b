package caching

import (
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// allocateFrom marks a run that is in no set as used by a stream. The part that the
// request does not need becomes free for that stream.
func (r *Resource) allocateFrom(cache *streamCache, node *bestfit.Node, size uint64) *bestfit.Node {
	node.State = runInUse
	if node.Bytes > size && (r.options.OversizeBytes == 0 || node.Bytes < r.options.OversizeBytes) {
		r.insertFree(cache, r.split(node, size))
	}
	return node
}

// split divides a run and returns the second part.
func (r *Resource) split(node *bestfit.Node, size uint64) *bestfit.Node {
	rest := r.space.Split(node, size)
	r.segments.replaced(node, rest)
	return rest
}

// merge adds the following run to a run.
func (r *Resource) merge(node *bestfit.Node) {
	r.segments.replaced(r.space.Next(node), node)
	r.space.Join(node)
}

// addFree adds a free run to the set of a stream cache; removeFree removes it.
func (r *Resource) addFree(cache *streamCache, node *bestfit.Node) {
	if cache.free[node.Pool].Insert(&r.space, node) {
		r.freeBytes += node.Bytes
	}
}

func (r *Resource) removeFree(cache *streamCache, node *bestfit.Node) {
	if cache.free[node.Pool].Remove(&r.space, node) {
		r.freeBytes -= node.Bytes
	}
}

// release frees a run that the cache's stream used last, and returns memory to the
// driver if most of it is free.
func (r *Resource) release(cache *streamCache, node *bestfit.Node) {
	r.insertFree(cache, node)
	if r.freeBytes/3 > r.reserved/4 && !r.flushing {
		r.shrinking.freed(r)
	}
}

// insertFree adds a run to the set of the cache of the stream that used it last,
// merged with those neighbours that are also free for the stream.
func (r *Resource) insertFree(cache *streamCache, node *bestfit.Node) {
	known := node.State == runFree && r.space.Next(node) == nil && r.space.Previous(node) == nil
	node.State, node.Owner = runFree, cache.number
	for next := r.space.Next(node); next != nil && r.mergeable(node, next); next = r.space.Next(node) {
		node.Mark = max(node.Mark, r.markFor(cache, next))
		r.removeFree(r.owners[next.Owner], next)
		r.merge(node)
	}
	for previous := r.space.Previous(node); previous != nil && r.mergeable(node, previous); previous = r.space.Previous(node) {
		mark := max(node.Mark, r.markFor(cache, previous))
		r.removeFree(r.owners[previous.Owner], previous)
		r.merge(previous)
		node = previous
		node.Owner, node.Mark = cache.number, mark
	}
	r.addFree(cache, node)
	if !known && r.space.Next(node) == nil && r.space.Previous(node) == nil {
		r.segments.becameWhole(node)
	}
}

// coalesceIdle moves free runs of all streams to the shared cache if their last use
// has completed, and merges neighbours there. If wait is set it waits for the last
// use of every free run and moves all of them.
func (r *Resource) coalesceIdle(wait bool) (err error) {
	for _, cache := range r.owners[1:] {
		if cache == nil {
			continue
		}
		cache.epochs.poll(cache.epochs.now())
		for pool := range cache.free {
			cache.free[pool].Each(&r.space, func(node *bestfit.Node) bool {
				if wait {
					err = cache.epochs.wait(node.Mark)
				}
				if err == nil && (wait || cache.epochs.isDone(node.Mark)) {
					r.removeFree(cache, node)
					node.Mark = 0
					r.insertFree(r.shared, node)
				}
				return err == nil
			})
		}
	}
	return err
}

// mergeable reports whether a run that becomes free may be merged with its
// neighbour: the neighbour must be free, and the same stream must have used it last
// or its last use must have completed.
func (r *Resource) mergeable(node, neighbour *bestfit.Node) bool {
	return neighbour.State == runFree &&
		(neighbour.Owner == node.Owner || r.owners[neighbour.Owner].epochs.isDone(neighbour.Mark))
}

// markFor returns the epoch of the cache's stream in which a free run was last used.
func (r *Resource) markFor(cache *streamCache, node *bestfit.Node) uint64 {
	if node.Owner == cache.number {
		return node.Mark
	}
	return 0
}

// flush moves the blocks in the slots of all stream caches, and the held blocks
// without pending work, to the free runs.
func (r *Resource) flush() {
	r.flushing = true
	defer func() { r.flushing = false }()
	for _, cache := range r.owners[1:] {
		if cache == nil {
			continue
		}
		r.drain(cache)
	}
	r.releaseReached()
}

// flushOne is flush for the slots of one stream cache and the oldest held blocks.
func (r *Resource) flushOne(cache *streamCache) {
	r.flushing = true
	defer func() { r.flushing = false }()
	r.drain(cache)
	r.releaseOldest()
}

// drain moves the blocks in the slots of a stream cache to its free runs.
func (r *Resource) drain(cache *streamCache) {
	for _, node := range cache.drain(false) {
		r.release(cache, node)
	}
}
