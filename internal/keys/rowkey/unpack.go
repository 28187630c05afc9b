package rowkey

import (
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Unpackable reports whether the values of a source can be restored from the words of the
// first segment and, for some floats, from the rows.
func (p *Plan) Unpackable(source int) bool {
	s := &p.Sources[source]
	switch s.Storage {
	case Boolean, Unsigned, Signed, Float, Decimal: // one word has a decimal only if it is bounded
		return len(s.Parents) == 0 && !s.Reversible && p.Exact() && p.Segments[0].Words() == 1
	}
	return false
}

// PackedRows are sorted words of 64 bits, and the numbers of their rows: in the low RowBits
// bits of each word or, if that is 0, in Rows.
type PackedRows struct {
	Words   memory.Slice[uint8]
	RowBits int
	Rows    memory.Slice[uint32]
	DeviceRows
}

// Unpack writes the values of an unpackable source in the order of the words, and the
// bitmap if it is nullable. A null is written as a value of zero bits.
func (d *Device) Unpack(source int, from PackedRows, values, valid memory.Slice[uint8]) error {
	s, l, segment := &d.plan.Sources[source], &d.leaves[source], &d.plan.Segments[0]
	width, storage, nullLeft, nullFlip := uint64(s.Layout.Width), uint64(0), uint64(WordBits), uint64(0)
	switch s.Storage {
	case Boolean:
		width = 0
	case Signed:
		storage = 1
	case Float:
		storage = 2
	}
	// A source of one value has no piece.
	value, left := Piece{Subtract: s.Least}, 0
	if s.Storage == Decimal {
		value.Subtract = s.leastLimb()
	}
	for i := range segment.Pieces {
		p := &segment.Pieces[i]
		shift, ok := segment.Shift(p, 0)
		switch {
		case p.Source != source || !ok:
		case p.Content == Nulls:
			nullLeft, nullFlip = uint64(shift+from.RowBits), p.Flip
		default:
			value, left = *p, shift+from.RowBits
		}
	}
	to := unpackedLayout{
		storage: storage, width: width, left: uint64(left), bits: uint64(value.Bits), subtract: value.Subtract, flip: value.Flip,
		nullLeft: nullLeft, nullFlip: nullFlip, from: l.values, nan: value.NaN, rowBits: uint64(from.RowBits),
	}
	arguments := new(kernels.Words)
	to.addTo(arguments)
	return d.launch("rowkey_unpack", from.DeviceRows.Rows, values, valid, from.Words, from.Rows, from.Counted, int64(from.DeviceRows.Rows), arguments)
}
