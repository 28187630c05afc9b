package selection

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// concatRanges concatenates strings or lists. The ends of their offsets are fetched
// first. If 32-bit offsets do not reach to the end of the result, it gets 64-bit ones.
func (g *gatherer) concatRanges(target *pending, pieces []part, l layout.Layout) error {
	ends := make([][2][]byte, len(pieces))
	for i, p := range pieces {
		var err error
		if ends[i], err = g.fetchEnds(p, l); err != nil {
			return err
		}
	}
	g.later(func() error {
		extents, total, err := extentsOf(pieces, ends, l)
		if err != nil {
			return err
		}
		if total > strategy.MaximumOffset(g.ctx, l.Width) {
			if err := g.widenPieces(target, &l, total, pieces); err != nil {
				return err
			}
		}
		if err := g.concatOffsets(target, pieces, extents, l); err != nil {
			return err
		}
		if l.Kind == layout.Binary {
			return g.concatBytes(target, extents, int(total))
		}
		return g.concatChildren(target, extents, func(p part, i int) part { return p.child(i, p.offset, p.length) })
	})
	return nil
}

// extentsOf returns the bytes or elements of each piece, and their number.
func extentsOf(pieces []part, ends [][2][]byte, l layout.Layout) (extents []part, total int64, err error) {
	extents = make([]part, len(pieces))
	for i, p := range pieces {
		from, to := wordAt(ends[i][0], l.Width, 0), wordAt(ends[i][1], l.Width, 0)
		if extent := p.extent(l); from < 0 || to < from || to > int64(extent) {
			return nil, 0, fmt.Errorf("piece %d: its offsets go from %d to %d, of %d bytes or elements: %w", i, from, to, extent, column.ErrInvalid)
		}
		if total += to - from; total < 0 {
			return nil, 0, fmt.Errorf("the pieces have more bytes or elements than fit an int64: %w", memory.ErrOverflow)
		}
		extents[i] = part{data: p.data, offset: int(from), length: int(to - from)}
	}
	return extents, total, nil
}

// concatOffsets concatenates offsets, which begin with zero in the result.
func (g *gatherer) concatOffsets(target *pending, pieces, extents []part, l layout.Layout) error {
	buffers, err := g.allocate(uint64(target.data.Length+1) * uint64(l.Width))
	if err != nil {
		return err
	}
	target.data.Buffers = append(target.data.Buffers, buffers[0])
	at, before := 0, 0
	for i, p := range pieces {
		offsets, err := p.values(1, l.Width, p.length+1)
		if err != nil {
			return err
		}
		// The first offset of the next piece overwrites the last of this one with
		// the same value.
		if err := g.rebase(buffers[0], at, offsets, l.Width, uint64(before-extents[i].offset), math.MaxUint64); err != nil {
			return err
		}
		at += p.length * l.Width
		before += extents[i].length
	}
	return nil
}

// concatBytes concatenates the data of strings.
func (g *gatherer) concatBytes(target *pending, extents []part, total int) error {
	buffers, err := g.allocate(uint64(total))
	if err != nil {
		return err
	}
	target.data.Buffers = append(target.data.Buffers, buffers[0])
	at := 0
	for _, p := range extents {
		bytes, err := p.data.Buffers[2].Slice(p.offset, p.offset+p.length)
		if err != nil {
			return err
		}
		if err := g.copy(buffers[0], at, bytes); err != nil {
			return err
		}
		at += p.length
	}
	return nil
}
