package rowkey

import "github.com/gpuframe/gpuframe/internal/op"

// Reversible reports whether [Host.Decode] can restore the values of a plan from its
// words: it has one key of numbers or booleans, and words of at most 64 bits.
func (p *Plan) Reversible() bool {
	if len(p.Sources) != 1 || !p.Exact() || p.Bits() > WordBits {
		return false
	}
	switch s := &p.Sources[0]; s.Storage {
	case Boolean, Unsigned, Signed:
		return true
	case Float:
		return s.Reversible
	}
	return false
}

// Decode writes the values of words as rows from first on. The plan is reversible. A
// null is written as a value of zero bits. first is a multiple of 8, and the bits of all
// values are zero before.
func (p *Plan) Decode(words []uint64, first int, to op.HostBuffers) {
	s := &p.Sources[0]
	var null, value Piece
	value.Subtract = s.Least // of a piece without bits
	for _, piece := range p.Segments[0].Pieces {
		if piece.Content == Nulls {
			null = piece
		} else {
			value = piece
		}
	}
	for i, word := range words {
		isNull := null.Bits > 0 && word>>(p.Bits()-1)&1 != null.Flip
		if !isNull {
			to.SetValid(first + i)
		}
		number := uint64(0)
		if !isNull {
			number = s.decode(&value, word)
		}
		s.store(to, first+i, number)
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
