package rowkey

import "github.com/gpuframe/gpuframe/internal/op"

// Reversible reports whether the values of a plan can be restored from its words: it has
// one key of numbers or booleans that is Reversible.
func (p *Plan) Reversible() bool { return len(p.Sources) == 1 && p.Sources[0].countsNulls() }

// CountNulls returns the number of nulls in n rows of a source.
func (h *Host) CountNulls(source, first, n int) int {
	l, nulls := &h.leaves[source], 0
	if !l.Nullable {
		return 0
	}
	for row := first; row < first+n; row++ {
		if l.isNull(row) {
			nulls++
		}
	}
	return nulls
}

// Decode writes the rows begin to end of a reversible plan. The words are sorted,
// and the first ones are those of nulls. A null is written as a value of zero bits. begin is a
// multiple of 8, and all bits are zero before.
func (p *Plan) Decode(words []uint64, nulls, begin, end int, to op.HostBuffers) {
	s, piece := &p.Sources[0], &p.Segments[0].Pieces[0]
	first, ahead := 0, nulls
	if s.NullsFirst {
		first, ahead = nulls, 0
	}
	for i := max(begin, first); i < min(end, len(words)-ahead); i++ {
		to.SetValid(i)
		s.store(to, i, s.decode(piece, words[i+ahead]))
	}
}

// decode returns the bits of a value.
func (s *Source) decode(p *Piece, word uint64) uint64 {
	width := 8 * s.Layout.Width
	image := (word&ones(p.Bits) ^ p.Flip) + p.Subtract
	switch s.Storage {
	case Boolean:
		return image
	case Float:
		return unflipFloat(image&ones(width), width)
	case Signed:
		return image ^ 1<<(width-1)
	}
	return image
}

func (s *Source) store(to op.HostBuffers, row int, number uint64) {
	switch {
	case s.Storage == Boolean:
		if number != 0 {
			to.SetTrue(row)
		}
	case s.Layout.Width == 1:
		to.Values[row] = byte(number)
	case s.Layout.Width == 2:
		op.Elements[uint16](to.Values)[row] = uint16(number)
	case s.Layout.Width == 4:
		op.Elements[uint32](to.Values)[row] = uint32(number)
	default:
		op.Elements[uint64](to.Values)[row] = number
	}
}
