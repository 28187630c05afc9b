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

// mappedGround gives each pool one long range of addresses and maps memory into
// it as the pool grows. Whatever part is free can be given back and mapped anew
// later, so that memory is never stuck in a segment of the wrong size.
type mappedGround struct {
	resource    *Resource
	granularity uint64
	pools       [poolCount]mappedRange
	// pieces counts what is mapped.
	pieces int
	// peers are the other devices that can use the memory.
	peers peers.Set
}

// mappedRange is one range of addresses: first what has been mapped, with holes
// where it was given back, then what never was.
type mappedRange struct {
	base  device.Pointer
	bytes uint64
	// top is how much is mapped or was, from the base on, and last the run that
	// ends there.
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
	// addressFactor is how many times the device's memory a range could hold:
	// addresses cost nothing, and a range that is used up is full of holes.
	addressFactor = 8
	// largestPiece bounds the pieces that memory is mapped in. Mapping one costs
	// some 25 µs on a GPU and unmapping 15, nearly whatever its size; only whole
	// pieces can be given back.
	largestPiece = 128 << 20
)

func newMappedGround(r *Resource) (*mappedGround, error) {
	driver := r.device.Driver()
	granularity, err := driver.PhysicalGranularity()
	if err != nil {
		return nil, fmt.Errorf("expandable segments: %w", err)
	}
	g := &mappedGround{resource: r, granularity: granularity}
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

// place is where a pool can grow: so much to map, at one end of a hole or of all
// there is, so that with a free neighbour it suffices for a request.
type place struct {
	bytes     uint64
	hole      *bestfit.Node
	neighbour *bestfit.Node
	// atEnd says that the end of the hole is mapped, and not its beginning.
	atEnd bool
}

func (g *mappedGround) grow(pool uint8, f *front, size, room uint64) (*bestfit.Node, error) {
	p := &g.pools[pool]
	if node, err := g.moveHere(p, pool, f, size); node != nil || err != nil {
		return node, err
	}
	where, ok := g.choose(p, f, pool, size)
	if !ok {
		return nil, fmt.Errorf("the range of addresses is used up: %w", device.ErrOutOfMemory)
	}
	least := round.Up(size-freeBytes(where.neighbour), g.granularity)
	if where.bytes > room {
		where.bytes = least
	}
	if where.bytes > room {
		return nil, errLimit
	}
	node, err := g.mapAt(p, where, pool)
	if errors.Is(err, device.ErrOutOfMemory) && where.bytes > least {
		where.bytes = least
		node, err = g.mapAt(p, where, pool)
	}
	if err != nil {
		return nil, err
	}
	return g.joinNeighbour(f, node, where), nil
}

// choose finds the place that needs least new memory.
func (g *mappedGround) choose(p *mappedRange, f *front, pool uint8, size uint64) (best place, ok bool) {
	r := g.resource
	consider := func(candidate place, most uint64) {
		need := size - freeBytes(candidate.neighbour)
		candidate.bytes = min(max(r.options.growth(pool, need, g.granularity), g.step(p)), most)
		if candidate.bytes >= need && (!ok || candidate.bytes < best.bytes) {
			best, ok = candidate, true
		}
	}
	p.holes.Each(&r.space, func(hole *bestfit.Node) bool {
		consider(place{hole: hole, neighbour: g.usable(r.space.Previous(hole), f, size)}, hole.Bytes)
		consider(place{hole: hole, neighbour: g.usable(r.space.Next(hole), f, size), atEnd: true}, hole.Bytes)
		return true
	})
	consider(place{neighbour: g.usable(p.last, f, size)}, p.bytes-p.top)
	return best, ok
}

// step is how much a pool grows by at least once it is large: so many times fewer
// calls of the driver are worth a thirty-second of what there is.
func (g *mappedGround) step(p *mappedRange) uint64 {
	return round.Up(min(p.top/32, largestPiece), g.granularity)
}

// usable returns a run next to which memory could be mapped so that both serve a
// stream as one, or nil.
func (g *mappedGround) usable(node *bestfit.Node, f *front, size uint64) *bestfit.Node {
	if node == nil || node.State != runFree || node.Bytes >= size {
		return nil
	}
	if node.Owner != f.number && !g.resource.owners[node.Owner].epochs.over(node.Mark) {
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

// mapAt maps memory at a place and returns the run.
func (g *mappedGround) mapAt(p *mappedRange, where place, pool uint8) (*bestfit.Node, error) {
	at := uint64(p.base) + p.top
	if where.hole != nil {
		at = where.hole.Address
		if where.atEnd {
			at += where.hole.Bytes - where.bytes
		}
	}
	pieces, err := g.mapPieces(at, where.bytes)
	if err != nil {
		return nil, err
	}
	return g.add(p, where, pool, pieces), nil
}

// add takes pieces that were mapped at a place into the books.
func (g *mappedGround) add(p *mappedRange, where place, pool uint8, pieces []mappedPiece) *bestfit.Node {
	first, _ := p.find(pieces[0].address)
	p.mapped = slices.Insert(p.mapped, first, pieces...)
	g.pieces += len(pieces)
	g.resource.reserved += where.bytes
	node := g.node(p, where)
	node.State, node.Pool, node.Mark = runFree, pool, 0
	return node
}

// node returns the run of a place that was mapped just now.
func (g *mappedGround) node(p *mappedRange, where place) *bestfit.Node {
	r := g.resource
	if where.hole == nil {
		if p.last == nil {
			p.last = r.space.Add(uint64(p.base), where.bytes)
		} else {
			p.last = r.space.Append(p.last, where.bytes)
		}
		p.top += where.bytes
		return p.last
	}
	node := where.hole
	p.holes.Remove(&r.space, node)
	if node.Bytes == where.bytes {
		return node
	}
	if where.atEnd {
		mapped := r.split(node, node.Bytes-where.bytes)
		p.holes.Insert(&r.space, node)
		return mapped
	}
	p.holes.Insert(&r.space, r.split(node, where.bytes))
	return node
}

// joinNeighbour makes one run of new memory and the free run beside it.
func (g *mappedGround) joinNeighbour(f *front, node *bestfit.Node, where place) *bestfit.Node {
	r, other := g.resource, where.neighbour
	if other == nil {
		return node
	}
	mark := r.markFor(f, other)
	r.delist(r.owners[other.Owner], other)
	if where.atEnd {
		r.join(node)
	} else {
		r.join(other)
		node = other
	}
	node.Mark = mark
	return node
}

// mapPieces maps new memory in pieces. Where that fails nothing is mapped.
func (g *mappedGround) mapPieces(at, bytes uint64) (pieces []mappedPiece, err error) {
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
	g.open(at, bytes)
	return pieces, nil
}

// pieceBytes returns the size of the pieces for a growth: small enough that
// memory can be given back in parts, and large enough that there are not many.
func (g *mappedGround) pieceBytes(growth uint64) uint64 {
	return round.Up(min(max(growth/4, g.resource.options.LargeSegmentBytes), largestPiece), g.granularity)
}

func (g *mappedGround) unmapPiece(piece mappedPiece) error {
	driver := g.resource.device.Driver()
	if err := driver.Unmap(device.Pointer(piece.address), piece.bytes); err != nil {
		return err
	}
	return driver.PhysicalRelease(piece.physical)
}

// find returns where in the list the first piece is that begins at an address or
// after it.
func (p *mappedRange) find(address uint64) (at int, found bool) {
	return slices.BinarySearchFunc(p.mapped, address, func(piece mappedPiece, address uint64) int {
		return cmp.Compare(piece.address, address)
	})
}

func (g *mappedGround) idle(*bestfit.Node) {}

func (g *mappedGround) follows(before, now *bestfit.Node) {
	if p := &g.pools[before.Pool]; p.last == before {
		p.last = now
	}
}

// collect does nothing: what is free here is not stuck, and goes back when memory
// is short.
func (g *mappedGround) collect(uint64) error { return nil }

func (g *mappedGround) trim(keep uint64) error {
	r := g.resource
	if r.reserved <= keep {
		return nil
	}
	for _, node := range g.largestFirst() {
		if r.reserved <= keep {
			return nil
		}
		owner := r.owners[node.Owner]
		if !owner.epochs.ask(node.Mark) {
			continue
		}
		if err := g.unmap(owner, node, r.reserved-keep); err != nil {
			return err
		}
	}
	return nil
}

// largestFirst returns the free runs that hold a whole piece.
func (g *mappedGround) largestFirst() (nodes []*bestfit.Node) {
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

// within returns which pieces lie wholly in a run.
func (p *mappedRange) within(node *bestfit.Node) (from, to int) {
	from, _ = p.find(node.Address)
	end := node.Address + node.Bytes
	for to = from; to < len(p.mapped) && p.mapped[to].address+p.mapped[to].bytes <= end; to++ {
	}
	return from, to
}

// unmap gives back pieces of a free run, from its end on, until they are enough.
func (g *mappedGround) unmap(owner *front, node *bestfit.Node, enough uint64) error {
	pieces, err := g.detach(owner, node, enough)
	for _, piece := range pieces {
		g.resource.trimmed += piece.bytes
		err = errors.Join(err, g.resource.device.Driver().PhysicalRelease(piece.physical))
	}
	return err
}

// detach unmaps pieces of a free run, from its end on, until they are enough.
func (g *mappedGround) detach(owner *front, node *bestfit.Node, enough uint64) (pieces []mappedPiece, err error) {
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
		g.punch(owner, p, node, pieces[len(pieces)-1].address, bytes)
	}
	return pieces, err
}

// punch makes a part of a free run a hole.
func (g *mappedGround) punch(owner *front, p *mappedRange, node *bestfit.Node, at, bytes uint64) {
	r := g.resource
	r.delist(owner, node)
	hole := node
	if at > node.Address {
		hole = r.split(node, at-node.Address)
		r.enlist(owner, node)
	}
	if hole.Bytes > bytes {
		r.enlist(owner, r.split(hole, bytes))
	}
	hole.State = runUnmapped
	if next := r.space.Next(hole); next != nil && next.State == runUnmapped {
		p.holes.Remove(&r.space, next)
		r.join(hole)
	}
	if previous := r.space.Previous(hole); previous != nil && previous.State == runUnmapped {
		p.holes.Remove(&r.space, previous)
		r.join(previous)
		hole = previous
	}
	if p.last != hole {
		p.holes.Insert(&r.space, hole)
		return
	}
	// At the end there is no need of a hole.
	p.top -= hole.Bytes
	p.last = r.space.Previous(hole)
	r.space.Remove(hole)
}

func (g *mappedGround) segments() int { return g.pieces }

func (g *mappedGround) close() error {
	var failures []error
	for i := range g.pools {
		if p := &g.pools[i]; p.bytes > 0 {
			failures = append(failures, g.resource.device.Driver().AddressFree(p.base, p.bytes))
			p.bytes = 0
		}
	}
	return errors.Join(failures...)
}
