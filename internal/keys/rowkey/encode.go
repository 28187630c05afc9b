package rowkey

// Rows is a list of rows to encode.
type Rows struct {
	// Listed are the numbers of the rows, or nil for the rows from First on.
	Listed []uint32
	First  int
}

// row returns the number of row i.
func (r Rows) row(i int) int {
	if r.Listed != nil {
		return int(r.Listed[i])
	}
	return r.First + i
}

// from returns the rows from row i on.
func (r Rows) from(i int) Rows {
	if r.Listed != nil {
		return Rows{Listed: r.Listed[i:]}
	}
	return Rows{First: r.First + i}
}

// blockRows is the number of rows that are encoded piece by piece: their values stay in
// the first-level cache.
const blockRows = 1024

// Encode writes a word of a segment for rows to words.
func (h *Host) Encode(segment, word int, rows Rows, words []uint64) {
	s := &h.plan.Segments[segment]
	var values [blockRows]uint64
	for at := 0; at < len(words); at += blockRows {
		block, those := words[at:min(at+blockRows, len(words))], rows.from(at)
		clear(block)
		for i := range s.Pieces {
			p := &s.Pieces[i]
			if left, ok := s.Shift(p, word); ok {
				h.piece(p, those, values[:len(block)])
				shiftInto(block, values[:], left, ones(s.WordLength(word)))
			}
		}
	}
}

func shiftInto(words, values []uint64, left int, mask uint64) {
	if left < 0 {
		for i := range words {
			words[i] |= values[i] >> -left & mask
		}
		return
	}
	for i := range words {
		words[i] |= values[i] << left & mask
	}
}

// Word returns a word of a segment for one row.
func (h *Host) Word(segment, word, row int) uint64 {
	s := &h.plan.Segments[segment]
	w := uint64(0)
	var value [1]uint64
	for i := range s.Pieces {
		p := &s.Pieces[i]
		if left, ok := s.Shift(p, word); ok {
			h.piece(p, Rows{First: row}, value[:])
			if left < 0 {
				w |= value[0] >> -left
			} else {
				w |= value[0] << left
			}
		}
	}
	return w & ones(s.WordLength(word))
}

// piece writes the bits of a piece.
func (h *Host) piece(p *Piece, rows Rows, to []uint64) {
	l := &h.leaves[p.Source]
	if p.Content == Nulls {
		for i := range to {
			to[i] = p.Flip
			if l.isNull(rows.row(i)) {
				to[i] ^= 1
			}
		}
		return
	}
	l.load(p, rows, to)
	mask := ones(p.Bits)
	if p.Subtract != 0 || p.Flip != 0 || p.Bits < WordBits {
		for i := range to {
			to[i] = (to[i] - p.Subtract ^ p.Flip) & mask
		}
	}
	if l.Nullable {
		for i := range to {
			if l.isNull(rows.row(i)) {
				to[i] = 0
			}
		}
	}
}

// load writes the values of a piece.
func (l *leaf) load(p *Piece, rows Rows, to []uint64) {
	switch p.Content {
	case Truth:
		values := bitmap{l.values, l.offset}
		for i := range to {
			to[i] = 0
			if values.isSet(rows.row(i)) {
				to[i] = 1
			}
		}
	case Limb:
		l.loadLimbs(p, rows, to)
	case Rank:
		for i := range to {
			to[i] = uint64(l.rank(rows.row(i)))
		}
	case Prefix:
		for i := range to {
			to[i] = l.tailWord(rows.row(i), 0) >> (WordBits - p.Bits)
		}
	default:
		l.loadNumbers(rows, to)
		l.order(p, to)
	}
}

// loadNumbers writes unsigned numbers of the width of the values.
func (l *leaf) loadNumbers(rows Rows, to []uint64) {
	switch l.Layout.Width {
	case 1:
		loadAs(elements[uint8](l.values, l.offset), rows, to)
	case 2:
		loadAs(elements[uint16](l.values, l.offset), rows, to)
	case 4:
		loadAs(elements[uint32](l.values, l.offset), rows, to)
	default:
		loadAs(elements[uint64](l.values, l.offset), rows, to)
	}
}

func loadAs[T uint8 | uint16 | uint32 | uint64](values []T, rows Rows, to []uint64) {
	if rows.Listed == nil {
		for i, value := range values[rows.First:][:len(to)] {
			to[i] = uint64(value)
		}
		return
	}
	for i, row := range rows.Listed[:len(to)] {
		to[i] = uint64(values[row])
	}
}

// order changes numbers so that they are ordered as unsigned numbers.
func (l *leaf) order(p *Piece, to []uint64) {
	width := 8 * l.Layout.Width
	switch p.Content {
	case Integer:
		for i := range to {
			to[i] ^= 1 << (width - 1)
		}
	case Real:
		for i, x := range to {
			to[i] = realImage(x, width, p.NaN)
		}
	case RealBits:
		for i, x := range to {
			to[i] = flipFloat(x, width)
		}
	}
}

func (l *leaf) loadLimbs(p *Piece, rows Rows, to []uint64) {
	limbs := elements[uint64](l.values, l.offset*l.Layout.Width/8)
	stride, sign := l.Layout.Width/8, uint64(0)
	if p.Word == stride-1 {
		sign = 1 << 63
	}
	for i := range to {
		to[i] = limbs[rows.row(i)*stride+p.Word] ^ sign
	}
}

// EncodeTail writes eight bytes or two ranks of a segment's tail for rows, from position
// at on.
func (h *Host) EncodeTail(t *Tail, at int, rows Rows, words []uint64) {
	l, flip := &h.leaves[t.Source], h.tailFlip(t)
	for i := range words {
		words[i] = l.tailWord(rows.row(i), at) ^ flip
	}
}

// TailUnits returns the number of bytes or ranks in a word of a tail.
func (h *Host) TailUnits(t *Tail) int { return WordBits / h.leaves[t.Source].unitBits() }

// EncodeLength writes the lengths of the rows' strings, as they decide between strings
// with equal words.
func (h *Host) EncodeLength(t *Tail, rows Rows, words []uint64) {
	l, flip := &h.leaves[t.Source], h.tailFlip(t)
	for i := range words {
		words[i] = uint64(l.length(rows.row(i))) ^ flip
	}
}

// TailAgreement compares the tails of rows with that of a first row. It returns the first
// position from at on, in steps of whole words, at which one of them differs, and the end
// of the longest tail. Padding with zeros is no difference. If position is not below end,
// the tails agree.
func (h *Host) TailAgreement(t *Tail, at, first int, rows []uint32) (position, end int) {
	l, units := &h.leaves[t.Source], h.TailUnits(t)
	end = l.length(first)
	for _, row := range rows {
		end = max(end, l.length(int(row)))
	}
	position = max(end, at)
	for _, row := range rows {
		same := at
		for same < position && l.tailWord(first, same) == l.tailWord(int(row), same) {
			same += units
		}
		if position = min(position, same); position == at {
			break
		}
	}
	return position, end
}

func (h *Host) tailFlip(t *Tail) uint64 {
	if h.leaves[t.Source].Descending {
		return ones(WordBits)
	}
	return 0
}
