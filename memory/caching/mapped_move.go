package caching

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// moveHere has a pool grow by memory that lies idle in another one, and that no
// stream has used since it was got, or whose streams are forgotten: what the
// resource was primed with serves requests of every size that way. It returns nil
// where there is none.
func (g *mappedGround) moveHere(p *mappedRange, pool uint8, f *front, size uint64) (*bestfit.Node, error) {
	neighbour := g.usable(p.last, f, size)
	need := size - freeBytes(neighbour)
	pieces, err := g.idlePieces(pool, max(need, g.step(p)))
	if err != nil || len(pieces) == 0 {
		return nil, errors.Join(err, g.giveUp(pieces))
	}
	where := place{neighbour: neighbour}
	for i := range pieces {
		pieces[i].address = uint64(p.base) + p.top + where.bytes
		where.bytes += pieces[i].bytes
	}
	if where.bytes < need || where.bytes > p.bytes-p.top {
		// It does not suffice. The driver may have more than that.
		return nil, g.giveUp(pieces)
	}
	if err := g.mapAgain(pieces, where.bytes); err != nil {
		return nil, errors.Join(err, g.giveUp(pieces))
	}
	return g.joinNeighbour(f, g.add(p, where, pool, pieces), where), nil
}

// idlePieces unmaps pieces of the other pools that belong to no stream.
func (g *mappedGround) idlePieces(pool uint8, enough uint64) (pieces []mappedPiece, err error) {
	r := g.resource
	common := r.common
	var bytes uint64
	for other := range common.free {
		if other == int(pool) {
			continue
		}
		for bytes < enough && err == nil {
			node := common.free[other].Largest(&r.space)
			if node == nil {
				break
			}
			if from, to := g.pools[other].within(node); from == to {
				break
			}
			var more []mappedPiece
			more, err = g.detach(common, node, enough-bytes)
			for _, piece := range more {
				bytes += piece.bytes
			}
			pieces = append(pieces, more...)
		}
	}
	return pieces, err
}

// mapAgain maps pieces one after the other. Where that fails none is.
func (g *mappedGround) mapAgain(pieces []mappedPiece, bytes uint64) (err error) {
	driver := g.resource.device.Driver()
	done := 0
	for ; done < len(pieces) && err == nil; done++ {
		piece := pieces[done]
		if err = driver.Map(device.Pointer(piece.address), piece.bytes, 0, piece.physical); err != nil {
			break
		}
	}
	if err == nil {
		err = driver.SetAccess(device.Pointer(pieces[0].address), bytes)
	}
	if err != nil {
		for _, piece := range pieces[:done] {
			err = errors.Join(err, driver.Unmap(device.Pointer(piece.address), piece.bytes))
		}
		return err
	}
	g.open(pieces[0].address, bytes)
	return nil
}

// giveUp releases memory that is mapped nowhere.
func (g *mappedGround) giveUp(pieces []mappedPiece) (err error) {
	for _, piece := range pieces {
		g.resource.trimmed += piece.bytes
		err = errors.Join(err, g.resource.device.Driver().PhysicalRelease(piece.physical))
	}
	return err
}
