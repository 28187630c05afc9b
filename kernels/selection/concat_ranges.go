package selection

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// concatRanges concatenates strings or lists. The ends of their offsets are fetched
// first.
func (g *gatherer) concatRanges(made *pending, pieces []part, l layout.Layout) error {
	buffers, err := g.allocate(uint64(made.data.Length+1) * uint64(l.Width))
	if err != nil {
		return err
	}
	out := buffers[0]
	made.data.Buffers = append(made.data.Buffers, out)
	ends := make([][2][]byte, len(pieces))
	for i, p := range pieces {
		if ends[i], err = g.fetchEnds(p, l); err != nil {
			return err
		}
	}
	g.later(func() error {
		at, total := 0, int64(0)
		extents := make([]part, len(pieces))
		for i, p := range pieces {
			from, to := wordAt(ends[i][0], l.Width, 0), wordAt(ends[i][1], l.Width, 0)
			if extent := p.extent(l); from < 0 || to < from || to > int64(extent) {
				return fmt.Errorf("piece %d: its offsets go from %d to %d, of %d bytes or elements: %w", i, from, to, extent, column.ErrInvalid)
			}
			offsets, err := p.values(1, l.Width, p.length+1)
			if err != nil {
				return err
			}
			// The first offset of the next piece overwrites the last of this one with
			// the same value.
			if err := g.rebase(out, at, offsets, l.Width, uint64(total-from), math.MaxUint64); err != nil {
				return err
			}
			at += p.length * l.Width
			if total += to - from; total > l.MaximumOffset() || total < 0 {
				return fmt.Errorf("the result has more than %d bytes or elements, which the offsets of %v reach to: %w",
					l.MaximumOffset(), l.Storage, memory.ErrOverflow)
			}
			extents[i] = part{data: p.data, offset: int(from), length: int(to - from)}
		}
		if l.Kind == layout.Binary {
			return g.concatBytes(made, extents, int(total))
		}
		return g.concatChildren(made, extents, func(p part, i int) part { return p.child(i, p.offset, p.length) })
	})
	return nil
}

// concatBytes concatenates the data of strings.
func (g *gatherer) concatBytes(made *pending, extents []part, total int) error {
	buffers, err := g.allocate(uint64(total))
	if err != nil {
		return err
	}
	made.data.Buffers = append(made.data.Buffers, buffers[0])
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
