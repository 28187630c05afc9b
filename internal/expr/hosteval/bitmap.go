package hosteval

import (
	endian "encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// bitmap holds one bit per row: the validity of a column, or its bools. In the zero
// value every bit is set.
type bitmap struct {
	bits   []byte // nil: every row has the same bit
	offset int    // of the first row
	clear  bool   // without bits, every row's bit is 0
}

// at returns the bit of row i.
func (b bitmap) at(i int) bool {
	if b.bits == nil {
		return !b.clear
	}
	return bitutil.BitIsSet(b.bits, b.offset+i)
}

// word returns the bits of 64 rows from row i. Bits beyond the last row are undefined.
func (b bitmap) word(i int) uint64 {
	switch {
	case b.bits != nil:
	case b.clear:
		return 0
	default:
		return ^uint64(0)
	}
	at := b.offset + i
	rest := b.bits[at>>3:]
	if len(rest) < 9 {
		rest = append(make([]byte, 0, 9), rest...)[:9]
	}
	return endian.LittleEndian.Uint64(rest)>>(at&7) | uint64(rest[8])<<(64-at&7)
}

// uniform reports whether all rows have the same bit without a bitmap in memory.
func (b bitmap) uniform() bool { return b.bits == nil }

func validityOf(data arrow.ArrayData) bitmap {
	if validity := data.Buffers()[0]; validity != nil && validity.Len() > 0 {
		return bitmap{bits: validity.Bytes(), offset: data.Offset()}
	}
	return bitmap{}
}

// words is a bitmap that is written 64 rows at a time.
type words []byte

func newWords(rows int) words { return make(words, (rows+63)/64*8) }

func (w words) set(row int, word uint64) { endian.LittleEndian.PutUint64(w[row/8:], word) }

// buffer returns the bits of the rows.
func (w words) buffer(rows int) *arrowmemory.Buffer {
	return arrowmemory.NewBufferBytes(w[:bitutil.BytesForBits(int64(rows))])
}

// below returns a word with a bit set for each of the 64 rows from row i that is less
// than rows.
func below(rows, i int) uint64 {
	if rest := rows - i; rest < 64 {
		return 1<<rest - 1
	}
	return ^uint64(0)
}

// intersect returns the validity of a result that is null if an operand is, or nil
// without nulls, and the null count.
func intersect(operands []bitmap, rows int) (*arrowmemory.Buffer, int) {
	merged, valid := words(nil), 0
	for _, operand := range operands {
		if operand.uniform() && !operand.clear {
			continue
		}
		first := merged == nil
		if first {
			merged = newWords(rows)
		}
		valid = 0
		for i := 0; i < rows; i += 64 {
			word := operand.word(i) & below(rows, i)
			if !first {
				word &= endian.LittleEndian.Uint64(merged[i/8:])
			}
			merged.set(i, word)
			valid += bits.OnesCount64(word)
		}
	}
	if merged == nil || valid == rows {
		return nil, 0
	}
	return merged.buffer(rows), rows - valid
}

// bools makes an array of bools. For 64 rows at a time f returns their truth and their
// validity; the truth of null rows is ignored.
func (e *evaluation) bools(f func(row int) (truth, valid uint64)) arrow.Array {
	values, validity, nulls := newWords(e.rows), newWords(e.rows), 0
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		for i := first; i < min(first+blockRows, e.rows); i += 64 {
			truth, valid := f(i)
			inside := below(e.rows, i)
			valid &= inside
			values.set(i, truth&valid)
			validity.set(i, valid)
			nulls += bits.OnesCount64(inside &^ valid)
		}
	}
	buffers := []*arrowmemory.Buffer{nil, values.buffer(e.rows)}
	if nulls > 0 {
		buffers[0] = validity.buffer(e.rows)
	}
	data := array.NewData(arrow.FixedWidthTypes.Boolean, e.rows, buffers, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
