package rowkey

import "math/bits"

// WordBits is the length of a word of a segment.
const WordBits = 64

// Piece is a number of at most 64 bits in the words of a segment. Its bits are
// ((value − Subtract) XOR Flip) modulo 2^Bits, with the value by Content, or zero if the
// row is null and the piece is not Nulls.
type Piece struct {
	// Source is the number of the source.
	Source  int
	Content Content
	// Offset is the number of bits of the segment before the piece.
	Offset, Bits int
	// Word is the number of the word of a Limb.
	Word           int
	Subtract, Flip uint64
	// NaN is the value of NaN, for Real.
	NaN uint64
}

// Tail is the rest of a string or list, behind the prefix that is the last piece of its
// segment. Strings are compared by words of eight bytes, the first byte in the highest
// bits, padded with zeros; then by length. Lists are compared by words of two ranks, the
// first one in the highest bits, padded with zeros; no rank is zero. Descending inverts
// the words and the length.
type Tail struct {
	Source int
	// Skip is the number of bytes or ranks that the prefix holds whole.
	Skip int
}

// Segment is a list of pieces that are packed, and an optional tail.
type Segment struct {
	Pieces []Piece
	// Bits is the sum of the lengths of the pieces.
	Bits int
	Tail *Tail
}

// Words returns the number of words, each of at most 64 bits.
func (s *Segment) Words() int { return (s.Bits + WordBits - 1) / WordBits }

// WordLength returns the number of bits of a word, which are its low ones.
func (s *Segment) WordLength(word int) int { return min(WordBits, s.Bits-word*WordBits) }

// Width returns the bytes of an element of the words: 0, 4 or 8.
func (s *Segment) Width() int {
	switch {
	case s.Bits == 0:
		return 0
	case s.Bits <= 32:
		return 4
	}
	return 8
}

// Shift returns the distance by which a piece is shifted left into a word, or right if it
// is negative, and whether the word has bits of the piece. The result is cut to the
// length of the word.
func (s *Segment) Shift(p *Piece, word int) (left int, ok bool) {
	first, end := word*WordBits, word*WordBits+s.WordLength(word)
	return end - p.Offset - p.Bits, p.Offset < end && p.Offset+p.Bits > first
}

// Plan is the encoding of rows.
type Plan struct {
	Sources  []Source
	Segments []Segment
}

// Exact reports whether the words of the first segment decide the whole order.
func (p *Plan) Exact() bool { return len(p.Segments) == 1 && p.Segments[0].Tail == nil }

// Bits returns the length of the first segment.
func (p *Plan) Bits() int { return p.Segments[0].Bits }

// NewPlan plans the words of sources. Their Ranks are set. It has at least one segment.
func NewPlan(sources []Source) *Plan {
	p := &Plan{Sources: sources, Segments: make([]Segment, 1)}
	for i := range sources {
		s := &sources[i]
		if s.Nullable && !s.countsNulls() {
			null := Piece{Source: i, Content: Nulls, Bits: 1}
			if s.NullsFirst {
				null.Flip = 1
			}
			p.add(null)
		}
		if s.Storage == Bytes || s.Storage == Symbols {
			p.addTail(i)
			continue
		}
		s.pieces(i, p.add)
	}
	if last := len(p.Segments) - 1; last > 0 && p.Segments[last].Bits == 0 {
		p.Segments = p.Segments[:last]
	}
	return p
}

// countsNulls reports whether nulls have no bit: they are counted instead.
func (s *Source) countsNulls() bool {
	return s.Reversible && (s.Storage == Boolean || s.Storage == Unsigned || s.Storage == Signed || s.Storage == Float)
}

func (p *Plan) add(piece Piece) {
	s := &p.Segments[len(p.Segments)-1]
	piece.Offset = s.Bits
	if piece.Bits > 0 {
		s.Pieces, s.Bits = append(s.Pieces, piece), s.Bits+piece.Bits
	}
}

// addTail fills the last word of the segment with a prefix, and begins a new segment.
func (p *Plan) addTail(number int) {
	source := &p.Sources[number]
	if source.fixedLength() == 0 {
		return // all values are equal
	}
	s := &p.Segments[len(p.Segments)-1]
	prefix := Piece{Source: number, Content: Prefix, Bits: WordBits - s.Bits%WordBits}
	if source.Descending {
		prefix.Flip = ones(prefix.Bits)
	}
	p.add(prefix)
	s.Tail = &Tail{Source: number, Skip: prefix.Bits / source.unitBits()}
	p.Segments = append(p.Segments, Segment{})
}

// unitBits returns the bits of a byte or of a rank.
func (s *Source) unitBits() int {
	if s.Storage == Symbols {
		return 32
	}
	return 8
}

// pieces calls add for the pieces of values of a fixed length.
func (s *Source) pieces(number int, add func(Piece)) {
	piece := Piece{Source: number, Bits: 8 * s.Layout.Width}
	switch s.Storage {
	case Nothing:
		return
	case Boolean:
		piece.Content, piece.Bits = Truth, 1
	case Unsigned:
		piece.Content = Natural
	case Signed:
		piece.Content = Integer
	case Float:
		piece.Content, piece.NaN = Real, ones(piece.Bits)
		if s.NaNLast && s.Descending {
			piece.NaN = 0 // no number has it, and it will be inverted
		}
		if s.Reversible {
			// The floats after −∞ in the order of their flipped bits begin with −∞ and
			// end with the NaNs that have a sign, which would otherwise come first.
			piece.Content, piece.NaN = RealBits, 0
			piece.Subtract = flipFloat(infinity(piece.Bits)|1<<(piece.Bits-1), piece.Bits)
		}
	case Ranked:
		piece.Content, piece.Subtract = Rank, 1
		piece.Bits = bits.Len64(uint64(max(s.Ranks.Len()-1, 0)))
	case Decimal:
		piece.Content, piece.Bits = Limb, WordBits
		if s.Bounded {
			piece.Subtract, piece.Bits = s.leastLimb(), bits.Len64(s.Greatest-s.Least)
			if s.Descending {
				piece.Flip = ones(piece.Bits)
			}
			add(piece)
			return
		}
		if s.Descending {
			piece.Flip = ones(WordBits)
		}
		for piece.Word = s.Layout.Width/8 - 1; piece.Word >= 0; piece.Word-- {
			add(piece)
		}
		return
	}
	if s.Bounded && (s.Storage == Unsigned || s.Storage == Signed) {
		piece.Subtract, piece.Bits = s.Least, bits.Len64(s.Greatest-s.Least)
	}
	if s.Descending {
		piece.Flip = ones(piece.Bits)
	}
	add(piece)
}

// leastLimb returns the low word of the least value of a bounded decimal.
func (s *Source) leastLimb() uint64 { return s.Least ^ 1<<(WordBits-1) }

// image returns the value of an integer in the order of unsigned numbers.
func (s *Source) image(value uint64) uint64 {
	value &= ones(8 * s.Layout.Width)
	if s.Storage == Signed {
		value ^= 1 << (8*s.Layout.Width - 1)
	}
	return value
}

// ones returns a number with its low n bits set.
func ones(n int) uint64 { return 1<<n - 1 }

// infinity returns the bits of +∞ for a float of a number of bits.
func infinity(bits int) uint64 {
	switch bits {
	case 16:
		return 0x1f << 10
	case 32:
		return 0xff << 23
	}
	return 0x7ff << 52
}

// flipFloat returns the bits of a float in the order of unsigned numbers.
func flipFloat(x uint64, bits int) uint64 {
	if sign := uint64(1) << (bits - 1); x&sign == 0 {
		return x | sign
	}
	return ^x & ones(bits)
}

// unflipFloat is the reverse of flipFloat.
func unflipFloat(x uint64, bits int) uint64 {
	if sign := uint64(1) << (bits - 1); x&sign != 0 {
		return x ^ sign
	}
	return ^x & ones(bits)
}

// realImage returns a float in the order of unsigned numbers.
func realImage(x uint64, bits int, nan uint64) uint64 {
	sign := uint64(1) << (bits - 1)
	switch {
	case x&^sign > infinity(bits):
		return nan
	case x == sign:
		x = 0
	}
	return flipFloat(x, bits)
}
