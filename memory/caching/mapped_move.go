package caching

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// moveFromPool grows a pool with memory of another pool that is free in the shared
// cache: memory that no stream has used, or with retired streams. Primed memory can
// therefore serve requests of every size. moveFromPool returns nil if the memory is
// too small.
func (g *mappedSegments) moveFromPool(p *mappedRange, pool uint8, cache *streamCache, size uint64) (*bestfit.Node, error) {
	neighbour := g.usable(p.last, cache, size)
	need := size - freeBytes(neighbour)
	pieces, err := g.detachIdle(pool, max(need, g.step(p)))
	if err != nil || len(pieces) == 0 {
		return nil, errors.Join(err, g.releasePhysical(pieces))
	}
	site := growthSite{neighbour: neighbour}
	for i := range pieces {
		pieces[i].address = uint64(p.base) + p.top + site.bytes
		site.bytes += pieces[i].bytes
	}
	if site.bytes < need || site.bytes > p.bytes-p.top {
		// The memory is too small. The driver may have more.
		return nil, g.releasePhysical(pieces)
	}
	if err := g.mapPhysical(pieces, site.bytes); err != nil {
		return nil, errors.Join(err, g.releasePhysical(pieces))
	}
	return g.joinNeighbour(cache, g.record(p, site, pool, pieces), site), nil
}

// detachIdle unmaps pieces of the other pools that are in the shared cache.
func (g *mappedSegments) detachIdle(pool uint8, enough uint64) (pieces []mappedPiece, err error) {
	r := g.resource
	common := r.shared
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

// mapPhysical maps detached pieces. After an error none is mapped.
func (g *mappedSegments) mapPhysical(pieces []mappedPiece, bytes uint64) (err error) {
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
	g.allowPeers(pieces[0].address, bytes)
	return nil
}

// releasePhysical releases unmapped physical memory.
func (g *mappedSegments) releasePhysical(pieces []mappedPiece) (err error) {
	for _, piece := range pieces {
		g.resource.trimmed += piece.bytes
		err = errors.Join(err, g.resource.device.Driver().PhysicalRelease(piece.physical))
	}
	return err
}
