package caching

import (
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// checkBooks walks the whole state of a caching resource and fails the test if two
// parts disagree. live are the blocks that the test holds. Nothing else may use the
// resource meanwhile.
func checkBooks(t require.TestingT, r *Resource, live []*bestfit.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// This hides the method Helper, which would take most of the time.
	t = struct{ require.TestingT }{t}
	b := books{t: t, r: r, free: map[*bestfit.Node]*streamCache{}, used: map[*bestfit.Node]string{}, holes: map[*bestfit.Node]bool{}}
	for _, node := range live {
		b.take(node, "live")
	}
	b.caches()
	for _, h := range r.held {
		b.take(h.node, "held")
		require.Same(t, r.owners[h.cache.number], h.cache, "the cache of a held block is retired")
	}
	switch g := r.segments.(type) {
	case *fixedSegments:
		b.fixed(g)
	case *mappedSegments:
		b.mapped(g)
	}
	require.Equal(t, b.runs, r.space.Len(), "runs that belong to no segment")
	require.Empty(t, b.free, "free runs that belong to no segment")
	require.Empty(t, b.used, "runs in use that belong to no segment")
	b.figures()
	checkLayout(t, r, live)
}

// checkLayout compares the layout with the blocks that the test holds and the statistics.
func checkLayout(t require.TestingT, r *Resource, live []*bestfit.Node) {
	held := make(map[device.Pointer]uint64)
	for _, node := range live {
		held[device.Pointer(node.Address)] = node.Bytes
	}
	var sums [3]uint64
	largest, end := uint64(0), device.Pointer(0)
	for _, segment := range r.layout() {
		require.GreaterOrEqual(t, segment.Pointer, end, "segments overlap")
		at := segment.Pointer
		for _, block := range segment.Blocks {
			require.Equal(t, at, block.Pointer, "blocks have gaps")
			at = at.Add(block.Bytes)
			sums[block.State] += block.Bytes
			bytes, isHeld := held[block.Pointer]
			require.Equal(t, isHeld, block.State == BlockInUse, "the state of the block at %v", block.Pointer)
			if isHeld {
				require.Equal(t, bytes, block.Bytes)
				delete(held, block.Pointer)
			}
			if block.State == BlockFree {
				largest = max(largest, block.Bytes)
			}
		}
		end = at
		require.Equal(t, end, segment.Pointer.Add(segment.Bytes))
	}
	require.Empty(t, held, "blocks that are in no segment")
	s := r.stats()
	require.Equal(t, [3]uint64{s.InUse, s.Held, s.Cached}, sums)
	require.Equal(t, s.LargestFree, largest)
}

// books collects the state of the parts.
type books struct {
	t require.TestingT
	r *Resource
	// free are the members of the sets of the stream caches; used are the runs that
	// are allocated, in slots or held. Runs that the segments refer to are removed.
	free  map[*bestfit.Node]*streamCache
	used  map[*bestfit.Node]string
	holes map[*bestfit.Node]bool

	runs                        int
	reserved, cached, held, use uint64
	largest                     uint64
}

func (b *books) take(node *bestfit.Node, as string) {
	if before, twice := b.used[node]; twice {
		require.Fail(b.t, "a run is in two places", "%#x: %s and %s", node.Address, before, as)
	}
	b.used[node] = as
}

// caches collects the runs of the stream caches.
func (b *books) caches() {
	var free uint64
	for number, f := range b.r.owners {
		if f == nil {
			continue
		}
		require.EqualValues(b.t, number, f.number)
		require.False(b.t, f.retired, "a retired cache is known")
		require.Equal(b.t, number == 0, f.stream == nil)
		if number > 0 {
			require.Same(b.t, f, b.r.caches.current.Load().find(f.stream), "the table does not find cache %d", number)
		}
		var slots uint64
		for i := range f.slots {
			s := &f.slots[i]
			for _, node := range s.nodes[:s.count] {
				require.Equal(b.t, s.bytes, node.Bytes, "a slot holds another size")
				b.take(node, "slot")
				slots += node.Bytes
				b.largest = max(b.largest, node.Bytes)
			}
		}
		require.Equal(b.t, slots, f.bytes, "the bytes of a cache's slots")
		for pool := range f.free {
			set := &f.free[pool]
			var sum uint64
			count := 0
			set.Each(&b.r.space, func(node *bestfit.Node) bool {
				if b.free[node] != nil {
					require.Fail(b.t, "a run is in two sets", "%#x", node.Address)
				}
				require.EqualValues(b.t, pool, node.Pool)
				require.EqualValues(b.t, number, node.Owner)
				if number == 0 {
					require.Zero(b.t, node.Mark, "work is pending on what is everybody's")
				}
				b.free[node] = f
				b.largest = max(b.largest, node.Bytes)
				sum += node.Bytes
				count++
				return true
			})
			require.Equal(b.t, set.Len(), count)
			require.Equal(b.t, set.Bytes(), sum)
			free += sum
		}
	}
	require.Equal(b.t, free, b.r.freeBytes, "what the sets hold")
	require.Equal(b.t, len(b.r.caches.current.Load().list()), len(b.r.owners)-1-b.vacancies())
}

func (b *books) vacancies() (count int) {
	for _, f := range b.r.owners {
		if f == nil {
			count++
		}
	}
	return count
}

// run checks one run and counts it.
func (b *books) run(node *bestfit.Node) {
	b.runs++
	require.Zero(b.t, node.Bytes%roundingBytes)
	f, free := b.free[node]
	as, used := b.used[node]
	require.Equal(b.t, node.State == runFree, free, "run %#x: state %d, in use as %q", node.Address, node.State, as)
	require.Equal(b.t, node.State == runInUse, used, "run %#x: state %d", node.Address, node.State)
	require.Equal(b.t, node.State == runUnmapped, b.holes[node], "run %#x: state %d", node.Address, node.State)
	next := b.r.space.Next(node)
	if next != nil {
		require.Same(b.t, node, b.r.space.Previous(next))
		require.Equal(b.t, node.Address+node.Bytes, next.Address, "runs do not tile their segment")
		require.Equal(b.t, node.Pool, next.Pool)
		require.False(b.t, node.State == runUnmapped && next.State == runUnmapped, "two holes adjoin")
		if free && next.State == runFree {
			require.NotEqual(b.t, node.Owner, next.Owner, "two free runs of one stream adjoin")
		}
	}
	switch {
	case free:
		if f.stream != nil {
			require.LessOrEqual(b.t, node.Mark, f.epochs.now(), "a use in the future")
		}
		b.cached += node.Bytes
	case as == "slot":
		b.cached += node.Bytes
	case as == "held":
		b.held += node.Bytes
	case used:
		b.use += node.Bytes
	}
	delete(b.free, node)
	delete(b.used, node)
	delete(b.holes, node)
}

func (b *books) fixed(g *fixedSegments) {
	for address, s := range g.byAddress {
		require.EqualValues(b.t, address, s.allocation.Pointer)
		require.Equal(b.t, address, s.first.Address)
		require.Nil(b.t, b.r.space.Previous(s.first))
		var bytes uint64
		for node := s.first; node != nil; node = b.r.space.Next(node) {
			b.run(node)
			bytes += node.Bytes
		}
		require.Equal(b.t, s.allocation.Bytes, bytes, "the runs of a segment")
		b.reserved += bytes
	}
}

func (b *books) mapped(g *mappedSegments) {
	pieces := 0
	for i := range g.pools {
		p := &g.pools[i]
		pieces += len(p.mapped)
		p.holes.Each(&b.r.space, func(hole *bestfit.Node) bool {
			b.holes[hole] = true
			return true
		})
		require.Equal(b.t, p.top == 0, p.last == nil)
		if p.last != nil {
			require.NotEqual(b.t, runUnmapped, p.last.State, "a hole at the end")
			require.Nil(b.t, b.r.space.Next(p.last))
		}
		// The mapped pieces cover exactly the runs that are not holes.
		end, covered := uint64(p.base)+p.top, uint64(0)
		at := end
		for node := p.last; node != nil; node = b.r.space.Previous(node) {
			require.Equal(b.t, at, node.Address+node.Bytes)
			require.EqualValues(b.t, i, node.Pool)
			at = node.Address
			if node.State != runUnmapped {
				covered += node.Bytes
			} else {
				b.unmapped(p, node)
			}
			b.run(node)
		}
		require.EqualValues(b.t, p.base, at, "the runs do not begin where the range does")
		var mapped uint64
		last := uint64(p.base)
		for _, piece := range p.mapped {
			require.GreaterOrEqual(b.t, piece.address, last, "pieces overlap")
			last = piece.address + piece.bytes
			require.LessOrEqual(b.t, last, end)
			mapped += piece.bytes
		}
		require.Equal(b.t, covered, mapped, "what is mapped")
		b.reserved += mapped
	}
	require.Equal(b.t, pieces, g.pieces)
	require.Empty(b.t, b.holes, "holes that belong to no range")
}

// unmapped checks that no piece lies in a hole.
func (b *books) unmapped(p *mappedRange, hole *bestfit.Node) {
	for _, piece := range p.mapped {
		require.False(b.t, piece.address < hole.Address+hole.Bytes && hole.Address < piece.address+piece.bytes,
			"memory is mapped in a hole")
	}
}

// figures compares the resource's own sums.
func (b *books) figures() {
	require.Equal(b.t, b.reserved, b.r.reserved, "what is reserved")
	s := b.r.stats()
	require.Equal(b.t, b.reserved, s.Reserved)
	require.Equal(b.t, b.cached, s.Cached)
	require.Equal(b.t, b.held, s.Held)
	require.Equal(b.t, b.use, s.InUse)
	require.Equal(b.t, b.largest, s.LargestFree)
	require.GreaterOrEqual(b.t, s.PeakReserved, s.Reserved)
}
