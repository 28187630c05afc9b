package caching

import (
	"cmp"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// BlockState is the state of a block of a [Segment].
type BlockState uint8

const (
	// BlockInUse is allocated memory.
	BlockInUse BlockState = iota
	// BlockHeld is freed memory that further streams still use.
	BlockHeld
	// BlockFree is memory that new requests can have.
	BlockFree
)

// Segment is contiguous memory that a [Resource] holds from the driver.
type Segment struct {
	Pointer device.Pointer
	Bytes   uint64
	// Small reports whether the segment belongs to the pool of small blocks, Expandable
	// whether it can grow in place.
	Small, Expandable bool
	// Blocks cover the segment without gaps, in the order of their addresses.
	Blocks []SegmentBlock
}

// SegmentBlock is a part of a segment. Its size is rounded up.
type SegmentBlock struct {
	Pointer device.Pointer
	Bytes   uint64
	State   BlockState
	// Stream is the last stream that used a free block, if work is pending on it, and nil
	// otherwise.
	Stream *device.Stream
}

// Layout returns the segments of the resource with their blocks, ordered by address.
//
// # Waiting
//
// Requests that the cache of their stream cannot serve wait meanwhile: about one
// millisecond for a hundred thousand blocks.
func (r *Resource) Layout() []Segment {
	streamwork.RunLater(r.device)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.layout()
}

func (r *Resource) layout() []Segment {
	freed := r.freedBlocks()
	segments := []Segment{}
	for _, first := range r.segments.firsts() {
		var open *Segment
		for node := first; node != nil; node = r.space.Next(node) {
			if node.State == runUnmapped {
				open = nil
				continue
			}
			if open == nil {
				segments = append(segments, Segment{Pointer: device.Pointer(node.Address), Small: node.Pool == smallPool, Expandable: r.Expandable()})
				open = &segments[len(segments)-1]
			}
			block := SegmentBlock{Pointer: device.Pointer(node.Address), Bytes: node.Bytes}
			if f, ok := freed[node]; ok {
				block.State, block.Stream = f.state, f.stream
			} else if node.State == runFree {
				block.State, block.Stream = BlockFree, r.owners[node.Owner].stream // nil for shared memory
			}
			open.Bytes += node.Bytes
			open.Blocks = append(open.Blocks, block)
		}
	}
	slices.SortFunc(segments, func(a, b Segment) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return segments
}

// freedBlock is a freed block that is not a free run.
type freedBlock struct {
	state  BlockState
	stream *device.Stream
}

// freedBlocks returns the blocks in the slots of stream caches, and those that are held.
// The resource's lock is held.
func (r *Resource) freedBlocks() map[*bestfit.Node]freedBlock {
	freed := make(map[*bestfit.Node]freedBlock)
	for _, h := range r.held {
		freed[h.node] = freedBlock{state: BlockHeld}
	}
	for _, cache := range r.owners {
		if cache == nil {
			continue
		}
		cache.mu.Lock()
		for i := range cache.slots {
			for _, node := range cache.slots[i].nodes[:cache.slots[i].count] {
				freed[node] = freedBlock{state: BlockFree, stream: cache.stream}
			}
		}
		cache.mu.Unlock()
	}
	return freed
}

// firsts implements segmentSource.
func (g *fixedSegments) firsts() (nodes []*bestfit.Node) {
	for _, s := range g.byAddress {
		nodes = append(nodes, s.first)
	}
	return nodes
}

// firsts implements segmentSource.
func (g *mappedSegments) firsts() (nodes []*bestfit.Node) {
	for i := range g.pools {
		first := g.pools[i].last
		if first == nil {
			continue
		}
		for before := g.resource.space.Previous(first); before != nil; before = g.resource.space.Previous(before) {
			first = before
		}
		nodes = append(nodes, first)
	}
	return nodes
}
