package caching

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
	"github.com/gpuframe/gpuframe/memory/internal/peers"
	"github.com/gpuframe/gpuframe/memory/internal/round"
)

// mappedSegments gives each pool one long address range and maps memory into it as
// the pool grows. Any free part can be unmapped and mapped again later, so no memory
// is stuck in a segment of the wrong size.
type mappedSegments struct {
	resource    *Resource
	granularity uint64
	pools       [poolCount]mappedRange
	// pieces counts the mapped pieces.
	pieces int
	// peers are the other devices that have access to the memory.
	peers peers.Set
}

// mappedRange is one address range. Its first top bytes are mapped, except for holes
// where memory was unmapped; the rest was never mapped or is unmapped again.
type mappedRange struct {
	base  device.Pointer
	bytes uint64
	// top is the number of bytes from the base that are mapped or holes. last is the
	// run that ends there.
	top  uint64
	last *bestfit.Node
	// mapped are the pieces of memory by their addresses, in ascending order.
	mapped []mappedPiece
	holes  bestfit.Set
}

type mappedPiece struct {
	address, bytes uint64
	physical       backend.Physical
}

const (
	// addressFactor is the length of a range as a multiple of the device's memory.
	// Addresses are free of cost, and holes use them up.
	addressFactor = 8
	// largestPiece limits the size of mapped pieces. On a GPU mapping a piece takes
	// about 25 µs and unmapping about 15 µs, nearly independent of its size. Only
	// whole pieces can be returned to the driver.
	largestPiece = 128 << 20
)

func newMappedSegments(r *Resource) (*mappedSegments, error) {
	driver := r.device.Driver()
	granularity, err := driver.PhysicalGranularity()
	if err != nil {
		return nil, fmt.Errorf("expandable segments: %w", err)
	}
	g := &mappedSegments{resource: r, granularity: granularity}
	bytes := round.Up(r.device.Info().TotalMemory, granularity) * addressFactor
	for i := range g.pools {
		p := &g.pools[i]
		if p.base, err = driver.AddressReserve(bytes, 0); err != nil {
			return nil, errors.Join(fmt.Errorf("expandable segments: reserve addresses: %w", err), g.close())
		}
		p.bytes = bytes
	}
	return g, nil
}

// growthSite is a place where a pool can grow: bytes to map at one end of a hole, or
// at the end of the range. Together with the free neighbour they are enough for the
// request.
type growthSite struct {
	bytes     uint64
	hole      *bestfit.Node
	neighbour *bestfit.Node
	// atEnd is set if memory is mapped at the end of the hole instead of at its
	// start.
	atEnd bool
}

func (g *mappedSegments) grow(pool uint8, cache *streamCache, size, room uint64) (*bestfit.Node, error) {
	p := &g.pools[pool]
	if node, err := g.moveFromPool(p, pool, cache, size); node != nil || err != nil {
		return node, err
	}
	site, ok := g.chooseSite(p, cache, pool, size)
	if !ok {
		return nil, fmt.Errorf("the range of addresses is used up: %w", device.ErrOutOfMemory)
	}
	least := round.Up(size-freeBytes(site.neighbour), g.granularity)
	if site.bytes > room {
		site.bytes = least
	}
	if site.bytes > room {
		return nil, errLimit
	}
	node, err := g.mapAt(p, site, pool)
	if errors.Is(err, device.ErrOutOfMemory) && site.bytes > least {
		site.bytes = least
		node, err = g.mapAt(p, site, pool)
	}
	if err != nil {
		return nil, err
	}
	return g.joinNeighbour(cache, node, site), nil
}

// chooseSite returns the site that needs the least new memory.
func (g *mappedSegments) chooseSite(p *mappedRange, cache *streamCache, pool uint8, size uint64) (best growthSite, ok bool) {
	r := g.resource
	consider := func(candidate growthSite, most uint64) {
		need := size - freeBytes(candidate.neighbour)
		candidate.bytes = min(max(r.options.growth(pool, need, g.granularity), g.step(p)), most)
		if candidate.bytes >= need && (!ok || candidate.bytes < best.bytes) {
			best, ok = candidate, true
		}
	}
	p.holes.Each(&r.space, func(hole *bestfit.Node) bool {
		consider(growthSite{hole: hole, neighbour: g.usable(r.space.Previous(hole), cache, size)}, hole.Bytes)
		consider(growthSite{hole: hole, neighbour: g.usable(r.space.Next(hole), cache, size), atEnd: true}, hole.Bytes)
		return true
	})
	consider(growthSite{neighbour: g.usable(p.last, cache, size)}, p.bytes-p.top)
	return best, ok
}

// step returns the minimum growth of a large pool, one thirty-second of its memory,
// which saves driver calls.
func (g *mappedSegments) step(p *mappedRange) uint64 {
	return round.Up(min(p.top/32, largestPiece), g.granularity)
}

// usable returns the run if it is free for the stream and too small for the request,
// so that memory mapped next to it extends it. Otherwise it returns nil.
func (g *mappedSegments) usable(node *bestfit.Node, cache *streamCache, size uint64) *bestfit.Node {
	if node == nil || node.State != runFree || node.Bytes >= size {
		return nil
	}
	if node.Owner != cache.number && !g.resource.owners[node.Owner].epochs.isDone(node.Mark) {
		return nil
	}
	return node
}

func freeBytes(node *bestfit.Node) uint64 {
	if node == nil {
		return 0
	}
	return node.Bytes
}

// mapAt maps memory at a site and returns the run.
func (g *mappedSegments) mapAt(p *mappedRange, site growthSite, pool uint8) (*bestfit.Node, error) {
	at := uint64(p.base) + p.top
	if site.hole != nil {
		at = site.hole.Address
		if site.atEnd {
			at += site.hole.Bytes - site.bytes
		}
	}
	pieces, err := g.mapPieces(at, site.bytes)
	if err != nil {
		return nil, err
	}
	return g.record(p, site, pool, pieces), nil
}

// record adds pieces that were mapped at a site to the range and returns their run.
func (g *mappedSegments) record(p *mappedRange, site growthSite, pool uint8, pieces []mappedPiece) *bestfit.Node {
	first, _ := p.find(pieces[0].address)
	p.mapped = slices.Insert(p.mapped, first, pieces...)
	g.pieces += len(pieces)
	g.resource.reserved += site.bytes
	node := g.runAt(p, site)
	node.State, node.Pool, node.Mark = runFree, pool, 0
	return node
}

// runAt returns the run of a newly mapped site.
func (g *mappedSegments) runAt(p *mappedRange, site growthSite) *bestfit.Node {
	r := g.resource
	if site.hole == nil {
		if p.last == nil {
			p.last = r.space.Add(uint64(p.base), site.bytes)
		} else {
			p.last = r.space.Append(p.last, site.bytes)
		}
		p.top += site.bytes
		return p.last
	}
	node := site.hole
	p.holes.Remove(&r.space, node)
	if node.Bytes == site.bytes {
		return node
	}
	if site.atEnd {
		mapped := r.split(node, node.Bytes-site.bytes)
		p.holes.Insert(&r.space, node)
		return mapped
	}
	p.holes.Insert(&r.space, r.split(node, site.bytes))
	return node
}

// joinNeighbour merges new memory with the adjacent free run.
func (g *mappedSegments) joinNeighbour(cache *streamCache, node *bestfit.Node, site growthSite) *bestfit.Node {
	r, other := g.resource, site.neighbour
	if other == nil {
		return node
	}
	mark := r.markFor(cache, other)
	r.removeFree(r.owners[other.Owner], other)
	if site.atEnd {
		r.merge(node)
	} else {
		r.merge(other)
		node = other
	}
	node.Mark = mark
	return node
}

// mapPieces maps new memory in pieces. After an error nothing is mapped.
func (g *mappedSegments) mapPieces(at, bytes uint64) (pieces []mappedPiece, err error) {
	driver := g.resource.device.Driver()
	for done := uint64(0); done < bytes && err == nil; {
		piece := mappedPiece{address: at + done, bytes: min(bytes-done, g.pieceBytes(bytes))}
		if piece.physical, err = driver.PhysicalCreate(piece.bytes); err != nil {
			break
		}
		if err = driver.Map(device.Pointer(piece.address), piece.bytes, 0, piece.physical); err != nil {
			err = errors.Join(err, driver.PhysicalRelease(piece.physical))
			break
		}
		pieces = append(pieces, piece)
		done += piece.bytes
	}
	if err == nil {
		err = driver.SetAccess(device.Pointer(at), bytes)
	}
	if err != nil {
		for _, piece := range pieces {
			err = errors.Join(err, g.unmapPiece(piece))
		}
		return nil, err
	}
	g.allowPeers(at, bytes)
	return pieces, nil
}

// pieceBytes returns the piece size for a growth. Smaller pieces can be returned in
// more parts; larger ones need fewer driver calls.
func (g *mappedSegments) pieceBytes(growth uint64) uint64 {
	return round.Up(min(max(growth/4, g.resource.options.LargeSegmentBytes), largestPiece), g.granularity)
}

func (g *mappedSegments) unmapPiece(piece mappedPiece) error {
	driver := g.resource.device.Driver()
	if err := driver.Unmap(device.Pointer(piece.address), piece.bytes); err != nil {
		return err
	}
	return driver.PhysicalRelease(piece.physical)
}

// find returns the index of the first piece that begins at or after an address.
func (p *mappedRange) find(address uint64) (at int, exact bool) {
	return slices.BinarySearchFunc(p.mapped, address, func(piece mappedPiece, address uint64) int {
		return cmp.Compare(piece.address, address)
	})
}

func (g *mappedSegments) becameWhole(*bestfit.Node) {}

func (g *mappedSegments) replaced(before, now *bestfit.Node) {
	if p := &g.pools[before.Pool]; p.last == before {
		p.last = now
	}
}

// collect does nothing: free memory is not stuck here and is returned when memory is
// short.
func (g *mappedSegments) collect(uint64) error { return nil }

func (g *mappedSegments) trim(keep uint64) error {
	r := g.resource
	if r.reserved <= keep {
		return nil
	}
	for _, node := range g.largestFirst() {
		if r.reserved <= keep {
			return nil
		}
		owner := r.owners[node.Owner]
		if !owner.epochs.poll(node.Mark) {
			continue
		}
		if err := g.unmap(owner, node, r.reserved-keep); err != nil {
			return err
		}
	}
	return nil
}

// largestFirst returns the free runs that contain a whole piece, the largest first.
func (g *mappedSegments) largestFirst() (nodes []*bestfit.Node) {
	r := g.resource
	for _, owner := range r.owners {
		if owner == nil {
			continue
		}
		for pool := range owner.free {
			owner.free[pool].Each(&r.space, func(node *bestfit.Node) bool {
				if from, to := g.pools[pool].within(node); from < to {
					nodes = append(nodes, node)
				}
				return true
			})
		}
	}
	slices.SortFunc(nodes, func(a, b *bestfit.Node) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Address, a.Address))
	})
	return nodes
}

// within returns the pieces that lie completely in a run, as an index range.
func (p *mappedRange) within(node *bestfit.Node) (from, to int) {
	from, _ = p.find(node.Address)
	end := node.Address + node.Bytes
	for to = from; to < len(p.mapped) && p.mapped[to].address+p.mapped[to].bytes <= end; to++ {
	}
	return from, to
}

// unmap returns pieces of a free run to the driver, the last first, until enough
// bytes are returned.
func (g *mappedSegments) unmap(owner *streamCache, node *bestfit.Node, enough uint64) error {
	pieces, err := g.detach(owner, node, enough)
	for _, piece := range pieces {
		g.resource.trimmed += piece.bytes
		err = errors.Join(err, g.resource.device.Driver().PhysicalRelease(piece.physical))
	}
	return err
}

// detach unmaps pieces of a free run, the last first, until enough bytes are
// unmapped.
func (g *mappedSegments) detach(owner *streamCache, node *bestfit.Node, enough uint64) (pieces []mappedPiece, err error) {
	p := &g.pools[node.Pool]
	from, to := p.within(node)
	first := to
	var bytes uint64
	for first > from && bytes < enough {
		last := p.mapped[first-1]
		if err = g.resource.device.Driver().Unmap(device.Pointer(last.address), last.bytes); err != nil {
			break
		}
		pieces = append(pieces, last)
		first--
		bytes += last.bytes
	}
	if bytes > 0 {
		p.mapped = slices.Delete(p.mapped, first, to)
		g.pieces -= to - first
		g.resource.reserved -= bytes
		g.makeHole(owner, p, node, pieces[len(pieces)-1].address, bytes)
	}
	return pieces, err
}

// makeHole turns part of a free run into a hole.
func (g *mappedSegments) makeHole(owner *streamCache, p *mappedRange, node *bestfit.Node, at, bytes uint64) {
	r := g.resource
	r.removeFree(owner, node)
	hole := node
	if at > node.Address {
		hole = r.split(node, at-node.Address)
		r.addFree(owner, node)
	}
	if hole.Bytes > bytes {
		r.addFree(owner, r.split(hole, bytes))
	}
	hole.State = runUnmapped
	if next := r.space.Next(hole); next != nil && next.State == runUnmapped {
		p.holes.Remove(&r.space, next)
		r.merge(hole)
	}
	if previous := r.space.Previous(hole); previous != nil && previous.State == runUnmapped {
		p.holes.Remove(&r.space, previous)
		r.merge(previous)
		hole = previous
	}
	if p.last != hole {
		p.holes.Insert(&r.space, hole)
		return
	}
	// The end of the range needs no hole.
	p.top -= hole.Bytes
	p.last = r.space.Previous(hole)
	r.space.Remove(hole)
}

func (g *mappedSegments) count() int { return g.pieces }

func (g *mappedSegments) close() error {
	var failures []error
	for i := range g.pools {
		if p := &g.pools[i]; p.bytes > 0 {
			failures = append(failures, g.resource.device.Driver().AddressFree(p.base, p.bytes))
			p.bytes = 0
		}
	}
	return errors.Join(failures...)
}
