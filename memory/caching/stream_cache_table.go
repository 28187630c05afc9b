package caching

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
)

// streamCacheTable maps streams to their caches. Readers take no lock: the table is
// replaced when a stream is added or retired, which is rare.
type streamCacheTable struct {
	current atomic.Pointer[streamCacheIndex]
	// manyStreams is set if there is more than one stream.
	manyStreams atomic.Bool
	mu          sync.Mutex
	// crowded is the number of caches from which idle caches are retired.
	crowded int
}

// streamCacheIndex is a hash table with open addressing. Its length is a power of two,
// and at least half of it is empty.
type streamCacheIndex struct {
	caches []*streamCache
	count  int
}

const fewStreamCaches = 64

func (x *streamCacheIndex) find(stream *device.Stream) *streamCache {
	if x == nil {
		return nil
	}
	mask := uint64(len(x.caches) - 1)
	for at := streamHash(stream) & mask; x.caches[at] != nil; at = (at + 1) & mask {
		if x.caches[at].stream == stream {
			return x.caches[at]
		}
	}
	return nil
}

func streamHash(stream *device.Stream) uint64 {
	const spread = 0x9E3779B97F4A7C15
	return uint64(uintptr(unsafe.Pointer(stream))) * spread >> 32
}

// list returns all caches.
func (x *streamCacheIndex) list() (all []*streamCache) {
	if x == nil {
		return nil
	}
	for _, cache := range x.caches {
		if cache != nil {
			all = append(all, cache)
		}
	}
	return all
}

func newStreamCacheIndex(caches []*streamCache) *streamCacheIndex {
	length := 16
	for length < 2*len(caches) {
		length *= 2
	}
	x := &streamCacheIndex{caches: make([]*streamCache, length), count: len(caches)}
	mask := uint64(length - 1)
	for _, cache := range caches {
		at := streamHash(cache.stream) & mask
		for x.caches[at] != nil {
			at = (at + 1) & mask
		}
		x.caches[at] = cache
	}
	return x
}

// cacheOf returns the cache of a stream.
func (r *Resource) cacheOf(stream *device.Stream) *streamCache {
	if cache := r.caches.current.Load().find(stream); cache != nil {
		return cache
	}
	return r.newStreamCache(stream)
}

func (r *Resource) newStreamCache(stream *device.Stream) *streamCache {
	t := &r.caches
	t.mu.Lock()
	defer t.mu.Unlock()
	if cache := t.current.Load().find(stream); cache != nil {
		return cache
	}
	caches := t.current.Load().list()
	if len(caches) >= max(t.crowded, fewStreamCaches) {
		caches = r.retireIdle(caches)
		t.crowded = 2 * len(caches)
	}
	cache := &streamCache{stream: stream}
	cache.epochs.open(stream)
	r.mu.Lock()
	number := slices.Index(r.owners, nil)
	if number < 0 {
		number = len(r.owners)
		r.owners = append(r.owners, nil)
	}
	cache.number = uint32(min(int64(number), math.MaxUint32))
	r.owners[number] = cache
	r.mu.Unlock()
	caches = append(caches, cache)
	t.current.Store(newStreamCacheIndex(caches))
	t.manyStreams.Store(len(caches) > 1)
	return cache
}

// retireIdle removes the caches of streams without pending work and returns the
// other caches. The memory of removed caches becomes shared. A stream that is used
// again gets a new cache.
func (r *Resource) retireIdle(caches []*streamCache) (busy []*streamCache) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cache := range caches {
		nodes := cache.drain(false)
		for _, node := range nodes {
			r.release(cache, node)
		}
		if r.holdsFor(cache) || !cache.epochs.poll(cache.epochs.now()) {
			busy = append(busy, cache)
			continue
		}
		nodes = cache.drain(true)
		for pool := range cache.free {
			for node := cache.free[pool].Largest(&r.space); node != nil; node = cache.free[pool].Largest(&r.space) {
				r.removeFree(cache, node)
				node.Mark = 0
				r.release(r.shared, node)
			}
		}
		for _, node := range nodes {
			// The blocks were freed since the first drain, perhaps after new work.
			cache.epochs.wait(node.Mark)
			node.Mark = 0
			r.release(r.shared, node)
		}
		r.retiredHits += cache.hits
		cache.epochs.close()
		r.owners[cache.number] = nil
	}
	return busy
}

func (r *Resource) holdsFor(cache *streamCache) bool {
	return slices.ContainsFunc(r.held, func(h *heldBlock) bool { return h.cache == cache })
}
