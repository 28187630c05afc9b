package caching

import (
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/internal/atomics"
)

// front is what a caching resource keeps for one stream. Blocks of the sizes that
// were freed last wait in its slots, uncut and without any bookkeeping, for a
// request of the same size on the same stream: that costs a lock that no other
// stream wants and nothing else. What does not fit there goes back to the
// resource.
type front struct {
	stream *device.Stream
	number uint32
	epochs epochs

	mu    sync.Mutex
	slots [slotCount]slot
	// bytes is what the slots hold.
	bytes uint64
	// hits counts what the slots served.
	hits uint64
	// retired says that the resource has forgotten this front.
	retired bool

	// free are the blocks of each pool whose last use was on this stream. The
	// resource's lock guards them.
	free [poolCount]bestfit.Set
	_    atomics.CacheLine
}

// slot holds blocks of one size, those freed last on top.
type slot struct {
	bytes uint64
	count int
	nodes [slotDepth]*bestfit.Node
}

const (
	slotCount = 64
	slotDepth = 8
	// deepSlotBytes is the size above which a slot holds a single block, so that
	// little is kept from being joined with its neighbours.
	deepSlotBytes = 1 << 20
)

func (f *front) slot(bytes uint64) *slot {
	const spread = 0x9E3779B97F4A7C15
	return &f.slots[(bytes/roundingBytes)*spread>>58]
}

// take returns a block of exactly the size, or nil. Where the front is retired ok
// is false.
func (f *front) take(bytes uint64) (node *bestfit.Node, ok bool) {
	f.mu.Lock()
	s := f.slot(bytes)
	if s.count > 0 && s.bytes == bytes {
		s.count--
		node = s.nodes[s.count]
		f.bytes -= bytes
		f.hits++
	}
	ok = !f.retired
	f.mu.Unlock()
	return node, ok
}

// put keeps a block whose last use is on the stream by now, if that takes no
// more than room in a slot for its size. Where the front is retired it does not.
func (f *front) put(node *bestfit.Node) bool {
	f.mu.Lock()
	s := f.slot(node.Bytes)
	ok := s.bytes == node.Bytes && (s.count == 0 || s.count < slotDepth && node.Bytes <= deepSlotBytes) &&
		(f.bytes == 0 || f.bytes+node.Bytes <= leastFrontBytes) && !f.retired
	if ok {
		node.Mark = f.epochs.now()
		s.nodes[s.count] = node
		s.count++
		f.bytes += s.bytes
	}
	f.mu.Unlock()
	return ok
}

// replace keeps a block as put does, and returns those that had to make room for
// it: they go back to the resource. That may be the block itself, for besides a
// single block a front keeps no more than most bytes. Where the front is retired
// nothing is kept and ok is false.
func (f *front) replace(node *bestfit.Node, most uint64) (evicted evictions, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retired {
		return evictions{}, false
	}
	node.Mark = f.epochs.now()
	if f.bytes+node.Bytes > most && f.bytes > 0 {
		evicted.nodes[0], evicted.count = node, 1
		return evicted, true
	}
	s := f.slot(node.Bytes)
	if s.bytes != node.Bytes {
		evicted.count = copy(evicted.nodes[:], s.nodes[:s.count])
		f.bytes -= s.bytes * uint64(s.count)
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
		f.bytes -= s.bytes
	}
	s.nodes[s.count] = node
	s.count++
	f.bytes += s.bytes
	return evicted, true
}

type evictions struct {
	nodes [slotDepth]*bestfit.Node
	count int
}

// drain empties the slots.
func (f *front) drain(retire bool) (nodes []*bestfit.Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.slots {
		s := &f.slots[i]
		nodes = append(nodes, s.nodes[:s.count]...)
		s.count = 0
	}
	f.bytes = 0
	f.retired = f.retired || retire
	return nodes
}

// figures returns what the slots hold, the largest block among it, and how many
// requests they have served.
func (f *front) figures() (bytes, largest, hits uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.slots {
		if s := &f.slots[i]; s.count > 0 {
			largest = max(largest, s.bytes)
		}
	}
	return f.bytes, largest, f.hits
}

// oldestPending returns the epoch of the free block whose last use ends first, of
// those that are not known to be over. The resource's lock is held.
func (f *front) oldestPending(space *bestfit.Space) (epoch uint64, any bool) {
	for pool := range f.free {
		f.free[pool].Each(space, func(node *bestfit.Node) bool {
			if !f.epochs.over(node.Mark) && (!any || node.Mark < epoch) {
				epoch, any = node.Mark, true
			}
			return true
		})
	}
	return epoch, any
}
