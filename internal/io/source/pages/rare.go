package pages

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// rareValues returns the decoder of values of types that only the host decodes, or nil.
func rareValues(f Flat) values {
	width, texts := widthOf(f), f.Physical == parquetformat.ByteArray
	switch t := f.Type.(type) {
	case *arrow.NullType:
		return nothing{}
	case *arrow.Decimal128Type:
		if texts {
			return &fixed[decimal128.Num]{convert: decimalsOf(decimalBytes), width: decimalBytes}
		}
	case *arrow.Decimal256Type:
		switch {
		case f.Physical == parquetformat.Int32 || f.Physical == parquetformat.Int64:
			return &fixed[decimal256.Num]{convert: wideIntegers(width), width: width}
		case texts:
			return &fixed[decimal256.Num]{convert: wideDecimals(wideDecimalBytes), width: wideDecimalBytes}
		case f.Physical == parquetformat.FixedLenByteArray && width >= 1 && width <= wideDecimalBytes:
			return &fixed[decimal256.Num]{convert: wideDecimals(width), width: width}
		}
	case *arrow.FixedSizeBinaryType:
		if f.Physical == parquetformat.FixedLenByteArray && t.ByteWidth == width && width > 0 {
			return &wide{width: width}
		}
	}
	return nil
}

const decimalBytes, wideDecimalBytes = 16, 32

// sized gives plain decimals of any number of bytes, each behind its length, the same number of them. Other values are
// returned as they are.
func (f Flat) sized(plain []byte) ([]byte, error) {
	width := decimalBytes
	switch id := f.Type.ID(); {
	case f.Physical != parquetformat.ByteArray || id != arrow.DECIMAL128 && id != arrow.DECIMAL256:
		return plain, nil
	case id == arrow.DECIMAL256:
		width = wideDecimalBytes
	}
	var to []byte
	for len(plain) > 0 {
		value, rest, err := cutLength(plain)
		if err != nil {
			return nil, err
		}
		if len(value) == 0 || len(value) > width {
			return nil, fmt.Errorf("a decimal of %d bytes: %w", len(value), ErrDamaged)
		}
		sign := byte(int8(value[0]) >> 7)
		for range width - len(value) {
			to = append(to, sign)
		}
		to, plain = append(to, value...), rest
	}
	return to, nil
}

// decimalsOf decodes numbers of width bytes, of which the first is the greatest.
func decimalsOf(width int) func(to []decimal128.Num, page []byte, taken int) {
	return func(to []decimal128.Num, page []byte, taken int) {
		page = page[taken*width:]
		for i := range to {
			number := page[i*width:][:width]
			high, low := int64(int8(number[0]))>>7, uint64(int64(int8(number[0]))>>7)
			for _, b := range number[:max(0, width-8)] {
				high = high<<8 | int64(b)
			}
			for _, b := range number[max(0, width-8):] {
				low = low<<8 | uint64(b)
			}
			to[i] = decimal128.New(high, low)
		}
	}
}

// wideDecimals is decimalsOf for decimals of 256 bits.
func wideDecimals(width int) func(to []decimal256.Num, page []byte, taken int) {
	return func(to []decimal256.Num, page []byte, taken int) {
		page = page[taken*width:]
		for i := range to {
			value := page[i*width:][:width]
			var all [wideDecimalBytes]byte
			for j := range wideDecimalBytes - width {
				all[j] = byte(int8(value[0]) >> 7)
			}
			copy(all[wideDecimalBytes-width:], value)
			word := func(at int) uint64 { return binary.BigEndian.Uint64(all[8*at:]) }
			to[i] = decimal256.New(word(0), word(1), word(2), word(3))
		}
	}
}

// wideIntegers decodes integers as decimals of 256 bits.
func wideIntegers(width int) func(to []decimal256.Num, page []byte, taken int) {
	return func(to []decimal256.Num, page []byte, taken int) {
		page = page[taken*width:]
		for i := range to {
			if width == 4 {
				to[i] = decimal256.FromI64(int64(int32(binary.LittleEndian.Uint32(page[4*i:]))))
			} else {
				to[i] = decimal256.FromI64(int64(binary.LittleEndian.Uint64(page[8*i:])))
			}
		}
	}
}

// nothing decodes values of the null type, which are all null.
type nothing struct{}

func (nothing) dictionary([]byte, int64) error    { return nil }
func (nothing) begin(int, arrowmemory.Allocator)  {}
func (nothing) extend(int)                        {}
func (nothing) plain([]byte, int, int, int) error { return nil }
func (nothing) indexed(*hybrid, int, int) error   { return nil }
func (nothing) spread(int, int, int, []byte)      {}
func (nothing) end(int) []*arrowmemory.Buffer     { return nil }
func (nothing) drop()                             {}

// wide decodes values of any number of bytes.
type wide struct {
	width int
	about []byte // the dictionary

	values growing
}

func (v *wide) dictionary(plain []byte, n int64) error {
	if n > int64(len(plain)/v.width) {
		return fmt.Errorf("a dictionary of %d values in %d bytes: %w", n, len(plain), ErrDamaged)
	}
	v.about = append([]byte(nil), plain[:int(n)*v.width]...)
	return nil
}

// begin allocates nothing: a damaged file has values of any width.
func (v *wide) begin(_ int, mem arrowmemory.Allocator) { v.values.mem = mem }

func (v *wide) extend(int) {}

func (v *wide) plain(page []byte, taken, at, n int) error {
	if (taken+n)*v.width > len(page) {
		return fmt.Errorf("%d values or more in %d bytes: %w", taken+n, len(page), ErrDamaged)
	}
	v.values.reserve((at + n) * v.width)
	copy(v.values.memory[at*v.width:], page[taken*v.width:][:n*v.width])
	return nil
}

func (v *wide) indexed(indices *hybrid, at, n int) error {
	var numbers [indexBlock]uint32
	v.values.reserve((at + n) * v.width)
	for n > 0 {
		block := numbers[:min(n, indexBlock)]
		if err := indices.indices(block, len(v.about)/v.width); err != nil {
			return err
		}
		for i, index := range block {
			copy(v.values.memory[(at+i)*v.width:], v.about[int(index)*v.width:][:v.width])
		}
		at, n = at+len(block), n-len(block)
	}
	return nil
}

// indices decodes indices of a dictionary of some values.
func (h *hybrid) indices(to []uint32, length int) error {
	if err := h.numbers(to, math.MaxUint32); err != nil {
		return err
	}
	for _, index := range to {
		if int(index) >= length {
			return errIndex(index, length)
		}
	}
	return nil
}

func (v *wide) spread(at, rows, valid int, validity []byte) {
	v.values.reserve((at + rows) * v.width)
	memory := v.values.memory
	for i := rows - 1; i >= 0; i-- {
		to := memory[(at+i)*v.width:][:v.width]
		if bitutil.BitIsSet(validity, at+i) {
			valid--
			copy(to, memory[(at+valid)*v.width:])
		} else {
			clear(to)
		}
	}
}

func (v *wide) end(rows int) []*arrowmemory.Buffer {
	v.values.reserve(rows * v.width)
	return []*arrowmemory.Buffer{v.values.take(rows * v.width)}
}

func (v *wide) drop() { v.values.drop() }
