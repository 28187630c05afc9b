package rowkey

// Encoding maps the values of a source to its words: see radix.Encoding.
type Encoding struct{ Positive, Negative, Subtract, Flip, Infinity, NaN uint64 }

// Encoding returns the encoding of a reversible plan of values of four or eight bytes. ok is
// false for other plans.
func (p *Plan) Encoding() (e Encoding, ok bool) {
	s := &p.Sources[0]
	if bits := 8 * s.Layout.Width; !p.Reversible() || bits != p.Bits() || bits < 32 {
		return e, false
	}
	return s.encoding(&p.Segments[0].Pieces[0]), true
}

// KeyEncoding returns the encoding of a plan with one key of numbers of four or eight bytes
// that are not null. −0 and 0 have one key, and so have all NaNs. ok is false for other plans.
func (p *Plan) KeyEncoding() (e Encoding, ok bool) {
	if len(p.Sources) != 1 || !p.Exact() {
		return e, false
	}
	s, segment := &p.Sources[0], &p.Segments[0]
	bits := 8 * s.Layout.Width
	switch s.Storage {
	case Unsigned, Signed, Float:
	default:
		return e, false
	}
	if s.Nullable || s.Reversible || s.Bounded || bits != segment.Bits || bits < 32 || s.Storage == Float && s.NaNLast && s.Descending {
		return e, false
	}
	e = s.encoding(&segment.Pieces[0])
	if s.Storage == Float {
		e.Infinity = infinity(bits)
		e.NaN = e.Infinity | e.Infinity>>1&^e.Infinity // the quiet NaN that processors make
	}
	return e, true
}

// encoding returns the encoding of a piece of all bits of the values.
func (s *Source) encoding(piece *Piece) Encoding {
	bits := 8 * s.Layout.Width
	e, sign := Encoding{Subtract: piece.Subtract, Flip: piece.Flip}, uint64(1)<<(bits-1)
	switch s.Storage {
	case Signed:
		e.Positive, e.Negative = sign, sign
	case Float:
		e.Positive, e.Negative = sign, ones(bits)
	}
	return e
}
