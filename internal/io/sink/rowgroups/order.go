package rowgroups

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// order is the order of a column's values, as the format defines it for its type.
type order uint8

const (
	orderSigned order = iota
	orderUnsigned
	orderFloat
	orderBytes     // byte by byte
	orderBigEndian // two's complement
	orderFlags
)

// longestBound is the length of a bound of text that is written.
const longestBound = 64

// bound is a bound of values, encoded as PLAIN. It is unknown if value is nil.
type bound struct {
	value []byte
	// exact is whether a value is equal to it.
	exact bool
}

// bounds are those of a page or column chunk. NaN is within all bounds.
type bounds struct{ low, high bound }

func (b bounds) known() bool { return b.low.value != nil && b.high.value != nil }

// with returns the bounds of both.
func (b bounds) with(o order, other bounds) bounds {
	if !other.known() {
		return b
	}
	if !b.known() {
		return other
	}
	if o.compare(other.low.value, b.low.value) < 0 {
		b.low = other.low
	}
	if o.compare(other.high.value, b.high.value) > 0 {
		b.high = other.high
	}
	return b
}

// compare compares two bounds.
func (o order) compare(a, b []byte) int {
	switch o {
	case orderBytes, orderFlags, orderBigEndian:
		return o.compareText(unsafe.String(unsafe.SliceData(a), len(a)), unsafe.String(unsafe.SliceData(b), len(b)))
	}
	if len(a) == 4 {
		return cmp.Compare(rank(binary.LittleEndian.Uint32(a), o), rank(binary.LittleEndian.Uint32(b), o))
	}
	return cmp.Compare(rank(binary.LittleEndian.Uint64(a), o), rank(binary.LittleEndian.Uint64(b), o))
}

// compareText compares values of bytes.
func (o order) compareText(a, b string) int {
	if o == orderBigEndian && (a[0]^b[0]) >= 0x80 {
		return cmp.Compare(b[0], a[0]) // one is negative
	}
	return strings.Compare(a, b)
}

// word is the memory of a number.
type word interface{ uint32 | uint64 }

func wordBytes[T word]() int { return bits.Len64(uint64(^T(0))) / 8 }

// rank maps a number to one with the column's order as an unsigned number. Those of NaN are at both ends.
func rank[T word](v T, o order) T {
	top := ^(^T(0) >> 1)
	switch {
	case o == orderUnsigned:
		return v
	case o == orderFloat && v&top != 0:
		return ^v
	}
	return v ^ top
}

// unrank is the inverse of rank.
func unrank[T word](v T, o order) T {
	top := ^(^T(0) >> 1)
	switch {
	case o == orderUnsigned:
		return v
	case o == orderFloat && v&top == 0:
		return ^v
	}
	return v ^ top
}

// isNaN reports whether a number of a column is NaN.
func isNaN[T word](v T, o order) bool {
	if o != orderFloat {
		return false
	}
	v &= ^T(0) >> 1
	if wordBytes[T]() == 4 {
		return uint64(v) > uint64(math.Float32bits(float32(math.Inf(1))))
	}
	return uint64(v) > math.Float64bits(math.Inf(1))
}

// numberBounds returns the bounds of numbers.
func numberBounds[T word](values []T, o order) bounds {
	low, high := ^T(0), T(0)
	switch o {
	case orderFloat:
		for _, v := range values {
			if !isNaN(v, o) {
				low, high = min(low, rank(v, o)), max(high, rank(v, o))
			}
		}
	case orderUnsigned:
		for _, v := range values {
			low, high = min(low, v), max(high, v)
		}
	default:
		top := ^(^T(0) >> 1)
		for _, v := range values {
			low, high = min(low, v^top), max(high, v^top)
		}
	}
	return rankBounds(low, high, o)
}

// rankBounds returns the bounds of numbers by their ranks. Those of no numbers are reversed.
func rankBounds[T word](low, high T, o order) bounds {
	if low > high {
		return bounds{}
	}
	low, high = unrank(low, o), unrank(high, o)
	if top := ^(^T(0) >> 1); o == orderFloat {
		if low == 0 {
			low = top // readers may look for either zero
		}
		if high == top {
			high = 0
		}
	}
	return bounds{bound{littleEndian(low), true}, bound{littleEndian(high), true}}
}

func littleEndian[T word](v T) []byte {
	if wordBytes[T]() == 4 {
		return binary.LittleEndian.AppendUint32(nil, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(v))
}

// textBounds returns the bounds of text by its least and greatest values, which are cut off after
// longestBound bytes.
func textBounds(low, high []byte, isUTF8 bool) bounds {
	return bounds{cutLow(low, isUTF8), cutHigh(high, isUTF8)}
}

func cutLow(v []byte, isUTF8 bool) bound {
	if len(v) <= longestBound {
		return bound{append([]byte{}, v...), true}
	}
	return bound{append([]byte{}, v[:cutAt(v, isUTF8)]...), false}
}

// cutAt returns the length of the beginning of a long text. Characters stay whole.
func cutAt(v []byte, isUTF8 bool) int {
	n := longestBound
	for isUTF8 && n > longestBound-utf8.UTFMax && !utf8.RuneStart(v[n]) {
		n--
	}
	return n
}

// cutHigh returns the beginning of a text, with its last character incremented.
func cutHigh(v []byte, isUTF8 bool) bound {
	if len(v) <= longestBound {
		return bound{append([]byte{}, v...), true}
	}
	start := v[:cutAt(v, isUTF8)]
	for len(start) > 0 {
		if isUTF8 {
			r, n := utf8.DecodeLastRune(start)
			start = start[:len(start)-n]
			if next, ok := nextRune(r, n); ok {
				return bound{utf8.AppendRune(append([]byte{}, start...), next), false}
			}
			continue
		}
		last := start[len(start)-1]
		start = start[:len(start)-1]
		if last < 0xFF {
			return bound{append(append([]byte{}, start...), last+1), false}
		}
	}
	return bound{append([]byte{}, v...), true}
}

// nextRune returns the next greater character. A faulty one has none.
func nextRune(r rune, length int) (rune, bool) {
	if r == utf8.RuneError && length == 1 || r == utf8.MaxRune {
		return 0, false
	}
	if r++; r >= 0xD800 && r < 0xE000 {
		r = 0xE000
	}
	return r, true
}
