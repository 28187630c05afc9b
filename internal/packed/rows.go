package packed

import (
	"math"
	"math/bits"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/base/address"
)

// rowReader reads the rows of the arrays of a column.
type rowReader struct {
	kind     kind
	unsigned bool
	arrays   []arrow.Array
	// ends are the rows up to the end of each array.
	ends []int
}

func newRowReader(k kind, t arrow.DataType, arrays []arrow.Array) *rowReader {
	r := &rowReader{kind: k, unsigned: t.ID() == arrow.UINT64}
	rows := 0
	for _, a := range arrays {
		if a.Len() > 0 {
			rows += a.Len()
			r.arrays, r.ends = append(r.arrays, a), append(r.ends, rows)
		}
	}
	return r
}

// rows is the number of rows.
func (r *rowReader) rows() int {
	if len(r.ends) == 0 {
		return 0
	}
	return r.ends[len(r.ends)-1]
}

// each calls f for the parts of arrays that some rows are in: rows from up to to of an array, the first of which is row
// at of them.
func (r *rowReader) each(first, rows int, f func(a arrow.Array, from, to, at int)) {
	end := first + rows
	for i := sort.SearchInts(r.ends, first+1); first < end; i++ {
		begin, next := r.ends[i]-r.arrays[i].Len(), min(r.ends[i], end)
		f(r.arrays[i], first-begin, next-begin, rows-(end-first))
		first = next
	}
}

// validity sets the bits of valid rows, and returns the number of others.
func (r *rowReader) validity(first, rows int, valid []uint64) (nulls int) {
	clear(valid)
	to := address.BytesOf(valid)
	r.each(first, rows, func(a arrow.Array, from, end, at int) {
		bitmap, n := a.NullBitmapBytes(), end-from
		if len(bitmap) == 0 {
			bitutil.SetBitsTo(to, int64(at), int64(n), true)
			return
		}
		bitutil.CopyBitmap(bitmap, a.Data().Offset()+from, n, to, at)
	})
	for _, word := range valid {
		nulls -= bits.OnesCount64(word)
	}
	return nulls + rows
}

// values reads values as integers: the bits of floats, and the lower halves of decimals. narrow is false if a decimal
// does not fit.
func (r *rowReader) values(first, rows int, to []int64) (narrow bool) {
	narrow = true
	r.each(first, rows, func(a arrow.Array, from, end, at int) {
		data := a.Data()
		offset := data.Offset()
		var bytes []byte
		if b := data.Buffers()[1]; b != nil {
			bytes = b.Bytes()
		}
		to, from, end := to[at:at+end-from], from+offset, end+offset
		unsigned := arrow.IsUnsignedInteger(a.DataType().ID())
		switch {
		case r.kind == booleans:
			for i := range to {
				to[i] = 0
				if bitutil.BitIsSet(bytes, from+i) {
					to[i] = 1
				}
			}
		case r.kind == decimals:
			for i, v := range address.ValuesOf[decimal128.Num](bytes)[from:end] {
				to[i] = int64(v.LowBits())
				narrow = narrow && v.HighBits() == to[i]>>63
			}
		case r.kind == integers1 && unsigned:
			widen(to, address.ValuesOf[uint8](bytes)[from:end])
		case r.kind == integers1:
			widen(to, address.ValuesOf[int8](bytes)[from:end])
		case r.kind == integers2 && unsigned:
			widen(to, address.ValuesOf[uint16](bytes)[from:end])
		case r.kind == integers2:
			widen(to, address.ValuesOf[int16](bytes)[from:end])
		case r.kind == integers4 && unsigned || r.kind == floats4:
			widen(to, address.ValuesOf[uint32](bytes)[from:end])
		case r.kind == integers4:
			widen(to, address.ValuesOf[int32](bytes)[from:end])
		default:
			copy(to, address.ValuesOf[int64](bytes)[from:end])
		}
	})
	return narrow
}

func widen[T int8 | int16 | int32 | uint8 | uint16 | uint32](to []int64, from []T) {
	for i, v := range from {
		to[i] = int64(v)
	}
}

// wide copies values of 16 bytes.
func (r *rowReader) wide(first, rows int, to []decimal128.Num) {
	r.each(first, rows, func(a arrow.Array, from, end, at int) {
		offset := a.Data().Offset()
		copy(to[at:], address.ValuesOf[decimal128.Num](a.Data().Buffers()[1].Bytes())[offset+from:offset+end])
	})
}

// eachText calls f for each row until it returns false. The string of a null row is empty.
func (r *rowReader) eachText(first, rows int, f func(text string, valid bool) bool) {
	ended := false
	r.each(first, rows, func(a arrow.Array, from, to, _ int) {
		value := textOf(a)
		for i := from; i < to && !ended; i++ {
			if valid := a.IsValid(i); valid {
				ended = !f(value(i), true)
			} else {
				ended = !f("", false)
			}
		}
	})
}

// textOf returns the strings of an array, which are parts of its memory.
func textOf(a arrow.Array) func(i int) string {
	switch a := a.(type) {
	case *array.String:
		return a.Value
	case *array.LargeString:
		return a.Value
	case *array.Binary:
		return a.ValueString
	case *array.LargeBinary:
		return a.ValueString
	}
	panic("packed: internal error: an array of " + a.DataType().String())
}

// spread gives null rows the value before them, and those before the first valid row its value. It returns false if all
// rows are null.
func spread[T any](values []T, valid []uint64) bool {
	last := -1
	for i := range values {
		switch {
		case valid[i/64]>>(i%64)&1 == 0:
			if last >= 0 {
				values[i] = values[last]
			}
			continue
		case last < 0:
			for k := range i {
				values[k] = values[i]
			}
		}
		last = i
	}
	if last < 0 {
		clear(values)
	}
	return last >= 0
}

// floatOf returns a float by its bits.
func (k kind) floatOf(word int64) float64 {
	if k == floats4 {
		return float64(math.Float32frombits(uint32(word)))
	}
	return math.Float64frombits(uint64(word))
}
