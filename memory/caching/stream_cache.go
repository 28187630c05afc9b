package caching

import (
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/internal/atomics"
)

// streamCache is the cache of a caching resource for one stream. Its slots hold the
// blocks that were freed last, in their allocated sizes, for requests of the same
// size on the same stream. Such a request takes one lock that no other stream takes.
// A block that does not fit in the slots goes back to the free runs.
type streamCache struct {
	stream *device.Stream
	number uint32
	epochs epochs

	mu    sync.Mutex
	slots [slotCount]slot
	// bytes are the bytes in the slots.
	bytes uint64
	// hits counts the requests that the slots served.
	hits uint64
	// retired is set when the resource has removed this cache.
	retired bool

	// free are the free runs of each pool that were last used on this stream. The
	// resource's lock guards them.
	free [poolCount]bestfit.Set
	_    atomics.CacheLine
}

// slot holds blocks of one size; the block freed last is the last entry.
type slot struct {
	bytes uint64
	count int
	nodes [slotDepth]*bestfit.Node
}

const (
	slotCount = 64
	slotDepth = 8
	// deepSlotBytes is the size above which a slot holds a single block, so that the
	// slots keep few bytes from merging with their neighbours.
	deepSlotBytes = 1 << 20
)

func (cache *streamCache) slot(bytes uint64) *slot {
	const spread = 0x9E3779B97F4A7C15
	return &cache.slots[(bytes/roundingBytes)*spread>>58]
}

// take returns a block of exactly the size, or nil. ok is false if the cache is retired.
func (cache *streamCache) take(bytes uint64) (node *bestfit.Node, ok bool) {
	cache.mu.Lock()
	s := cache.slot(bytes)
	if s.count > 0 && s.bytes == bytes {
		s.count--
		node = s.nodes[s.count]
		cache.bytes -= bytes
		cache.hits++
	}
	ok = !cache.retired
	cache.mu.Unlock()
	return node, ok
}

// put keeps a block that the stream used last if a slot of its size has room. A
// retired cache keeps nothing.
func (cache *streamCache) put(node *bestfit.Node) bool {
	cache.mu.Lock()
	s := cache.slot(node.Bytes)
	ok := s.bytes == node.Bytes && (s.count == 0 || s.count < slotDepth && node.Bytes <= deepSlotBytes) &&
		(cache.bytes == 0 || cache.bytes+node.Bytes <= leastCacheBytes) && !cache.retired
	if ok {
		node.Mark = cache.epochs.now()
		s.nodes[s.count] = node
		s.count++
		cache.bytes += s.bytes
	}
	cache.mu.Unlock()
	return ok
}

// replace keeps a block as put does and returns the evicted blocks, which go back to
// the free runs. The block itself is evicted if the slots would hold more than most
// bytes; a single block may be larger. If the cache is retired, ok is false.
func (cache *streamCache) replace(node *bestfit.Node, most uint64) (evicted eviction, ok bool) {
	cache.mu.Lock()
	defer cache.mu.Unlock()
	if cache.retired {
		return eviction{}, false
	}
	node.Mark = cache.epochs.now()
	if cache.bytes+node.Bytes > most && cache.bytes > 0 {
		evicted.nodes[0], evicted.count = node, 1
		return evicted, true
	}
	s := cache.slot(node.Bytes)
	if s.bytes != node.Bytes {
		evicted.count = copy(evicted.nodes[:], s.nodes[:s.count])
		cache.bytes -= s.bytes * uint64(s.count)
		s.bytes, s.count = node.Bytes, 0
	}
	depth := slotDepth
	if node.Bytes > deepSlotBytes {
		depth = 1
	}
	if s.count == depth {
		evicted.nodes[0], evicted.count = s.nodes[0], 1
		copy(s.nodes[:], s.nodes[1:s.count])
		s.count--
		cache.bytes -= s.bytes
	}
	s.nodes[s.count] = node
	s.count++
	cache.bytes += s.bytes
	return evicted, true
}

type eviction struct {
	nodes [slotDepth]*bestfit.Node
	count int
}

// drain empties the slots.
func (cache *streamCache) drain(retire bool) (nodes []*bestfit.Node) {
	cache.mu.Lock()
	defer cache.mu.Unlock()
	for i := range cache.slots {
		s := &cache.slots[i]
		nodes = append(nodes, s.nodes[:s.count]...)
		s.count = 0
	}
	cache.bytes = 0
	cache.retired = cache.retired || retire
	return nodes
}

// figures returns the bytes in the slots, the size of their largest block, and the
// number of requests that they served.
func (cache *streamCache) figures() (bytes, largest, hits uint64) {
	cache.mu.Lock()
	defer cache.mu.Unlock()
	for i := range cache.slots {
		if s := &cache.slots[i]; s.count > 0 {
			largest = max(largest, s.bytes)
		}
	}
	return cache.bytes, largest, cache.hits
}

// oldestPending returns the earliest epoch of a free run with a last use that is not
// known to have completed. The resource's lock is held.
func (cache *streamCache) oldestPending(space *bestfit.Space) (epoch uint64, any bool) {
	for pool := range cache.free {
		cache.free[pool].Each(space, func(node *bestfit.Node) bool {
			if !cache.epochs.isDone(node.Mark) && (!any || node.Mark < epoch) {
				epoch, any = node.Mark, true
			}
			return true
		})
	}
	return epoch, any
}
