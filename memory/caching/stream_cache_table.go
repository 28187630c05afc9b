package caching

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
)

// frontTable finds the front of a stream. Readers take no lock: the table is
// replaced when a stream comes or goes, which is seldom.
type frontTable struct {
	current atomic.Pointer[frontIndex]
	// shared says that there is more than one stream.
	shared atomic.Bool
	mu     sync.Mutex
	// crowded is the number of fronts from which idle ones are retired.
	crowded int
}

// frontIndex is a hash table with open addressing; its length is a power of two,
// and at least half of it is empty.
type frontIndex struct {
	fronts []*front
	count  int
}

const fewFronts = 64

func (x *frontIndex) find(stream *device.Stream) *front {
	if x == nil {
		return nil
	}
	mask := uint64(len(x.fronts) - 1)
	for at := streamHash(stream) & mask; x.fronts[at] != nil; at = (at + 1) & mask {
		if x.fronts[at].stream == stream {
			return x.fronts[at]
		}
	}
	return nil
}

func streamHash(stream *device.Stream) uint64 {
	const spread = 0x9E3779B97F4A7C15
	return uint64(uintptr(unsafe.Pointer(stream))) * spread >> 32
}

// list returns all fronts.
func (x *frontIndex) list() (all []*front) {
	if x == nil {
		return nil
	}
	for _, f := range x.fronts {
		if f != nil {
			all = append(all, f)
		}
	}
	return all
}

func newFrontIndex(fronts []*front) *frontIndex {
	length := 16
	for length < 2*len(fronts) {
		length *= 2
	}
	x := &frontIndex{fronts: make([]*front, length), count: len(fronts)}
	mask := uint64(length - 1)
	for _, f := range fronts {
		at := streamHash(f.stream) & mask
		for x.fronts[at] != nil {
			at = (at + 1) & mask
		}
		x.fronts[at] = f
	}
	return x
}

// front returns the front of a stream.
func (r *Resource) front(stream *device.Stream) *front {
	if f := r.fronts.current.Load().find(stream); f != nil {
		return f
	}
	return r.newFront(stream)
}

func (r *Resource) newFront(stream *device.Stream) *front {
	t := &r.fronts
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.current.Load().find(stream); f != nil {
		return f
	}
	fronts := t.current.Load().list()
	if len(fronts) >= max(t.crowded, fewFronts) {
		fronts = r.retire(fronts)
		t.crowded = 2 * len(fronts)
	}
	f := &front{stream: stream}
	f.epochs.open(stream)
	r.mu.Lock()
	number := slices.Index(r.owners, nil)
	if number < 0 {
		number = len(r.owners)
		r.owners = append(r.owners, nil)
	}
	f.number = uint32(min(int64(number), math.MaxUint32))
	r.owners[number] = f
	r.mu.Unlock()
	fronts = append(fronts, f)
	t.current.Store(newFrontIndex(fronts))
	t.shared.Store(len(fronts) > 1)
	return f
}

// retire forgets the fronts of streams that have nothing to do, whose memory is
// everybody's from then on. It returns the others. The streams may be used again:
// they get a new front then.
func (r *Resource) retire(fronts []*front) (busy []*front) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range fronts {
		nodes := f.drain(false)
		for _, node := range nodes {
			r.give(f, node)
		}
		if r.anyHeld(f) || !f.epochs.ask(f.epochs.now()) {
			busy = append(busy, f)
			continue
		}
		nodes = f.drain(true)
		for pool := range f.free {
			for node := f.free[pool].Largest(&r.space); node != nil; node = f.free[pool].Largest(&r.space) {
				r.delist(f, node)
				node.Mark = 0
				r.give(r.common, node)
			}
		}
		for _, node := range nodes {
			// They were freed in between, and work may have preceded that.
			f.epochs.wait(node.Mark)
			node.Mark = 0
			r.give(r.common, node)
		}
		r.retiredHits += f.hits
		f.epochs.close()
		r.owners[f.number] = nil
	}
	return busy
}

func (r *Resource) anyHeld(f *front) bool {
	return slices.ContainsFunc(r.held, func(h *heldBlock) bool { return h.front == f })
}
