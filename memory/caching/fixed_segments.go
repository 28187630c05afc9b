package caching

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// fixedSegments allocates segments from another resource. It frees a segment only as
// a whole.
type fixedSegments struct {
	resource *Resource
	upstream resource.Resource
	// byAddress are the segments by start address.
	byAddress map[uint64]*segment
}

type segment struct {
	allocation resource.Allocation
	// first is the run at the start of the segment.
	first *bestfit.Node
	// idleSince is the time at which the segment became completely free.
	idleSince uint64
}

func (g *fixedSegments) grow(pool uint8, cache *streamCache, size, room uint64) (*bestfit.Node, error) {
	bytes := g.resource.options.growth(pool, size, roundingBytes)
	if bytes > room {
		bytes = size
	}
	if bytes > room {
		return nil, errLimit
	}
	stream := g.resource.device.DefaultStream()
	if cache.stream != nil && !cache.stream.Closed() {
		stream = cache.stream
	}
	allocation, err := g.upstream.Allocate(bytes, stream)
	if errors.Is(err, device.ErrOutOfMemory) && bytes > size {
		bytes = size
		allocation, err = g.upstream.Allocate(bytes, stream)
	}
	if err != nil {
		return nil, err
	}
	if stream != cache.stream && g.resource.options.givenUpstream {
		// The upstream may have ordered the memory on a stream that is unknown to
		// its users.
		if err := streamwork.SynchronizeUncaptured(stream, context.Background()); err != nil {
			return nil, errors.Join(err, g.upstream.Free(allocation, nil))
		}
	}
	node := g.resource.space.Add(uint64(allocation.Pointer), bytes)
	node.Pool = pool
	node.Mark = cache.epochs.now() // a stream-ordered upstream has ordered it on this stream
	if g.byAddress == nil {
		g.byAddress = make(map[uint64]*segment)
	}
	g.byAddress[node.Address] = &segment{allocation: allocation, first: node}
	g.resource.reserved += bytes
	return node, nil
}

func (g *fixedSegments) becameWhole(node *bestfit.Node) {
	g.byAddress[node.Address].idleSince = g.resource.clock
}

func (g *fixedSegments) replaced(before, now *bestfit.Node) {}

func (g *fixedSegments) trim(keep uint64) error {
	oversize := g.resource.options.OversizeBytes
	return g.release(keep, func(a, b *segment) int {
		if oversize > 0 && (a.allocation.Bytes >= oversize) != (b.allocation.Bytes >= oversize) {
			return cmp.Compare(b.allocation.Bytes, a.allocation.Bytes)
		}
		return cmp.Or(cmp.Compare(a.idleSince, b.idleSince), cmp.Compare(a.first.Address, b.first.Address))
	})
}

func (g *fixedSegments) collect(keep uint64) error {
	return g.release(keep, func(a, b *segment) int {
		return cmp.Or(cmp.Compare(a.idleSince, b.idleSince), cmp.Compare(a.first.Address, b.first.Address))
	})
}

// release frees completely free segments in the given order.
func (g *fixedSegments) release(keep uint64, order func(a, b *segment) int) error {
	r := g.resource
	if r.reserved <= keep {
		return nil
	}
	var free []*segment
	for _, s := range g.byAddress {
		if s.first.State == runFree && r.space.Next(s.first) == nil {
			free = append(free, s)
		}
	}
	slices.SortFunc(free, order)
	for _, s := range free {
		if r.reserved <= keep {
			return nil
		}
		owner := r.owners[s.first.Owner]
		if !owner.epochs.poll(s.first.Mark) {
			continue
		}
		if err := g.giveBack(owner, s); err != nil {
			return err
		}
	}
	return nil
}

func (g *fixedSegments) giveBack(owner *streamCache, s *segment) error {
	r := g.resource
	r.removeFree(owner, s.first)
	delete(g.byAddress, s.first.Address)
	r.space.Remove(s.first)
	r.reserved -= s.allocation.Bytes
	r.trimmed += s.allocation.Bytes
	return g.upstream.Free(s.allocation, nil)
}

func (g *fixedSegments) count() int { return len(g.byAddress) }

func (g *fixedSegments) close() error { return nil }
