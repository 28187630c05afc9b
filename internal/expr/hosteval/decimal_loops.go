package hosteval

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// decimal is the two words of a decimal128 in two's complement, as they are stored.
type decimal struct{ low, high uint64 }

// sign returns a word of the sign bit.
func (d decimal) sign() uint64 { return uint64(int64(d.high) >> 63) }

// isShort reports whether the low word has the value, extended by its sign.
func (d decimal) isShort() bool { return d.high == uint64(int64(d.low)>>63) }

func (d decimal) magnitude() magnitude {
	m := magnitude{d.high, d.low}
	if int64(d.high) < 0 {
		return m.negated()
	}
	return m
}

// decimalRange is the decimals of a precision.
type decimalRange struct {
	limit magnitude
	// half is the greatest of them, or the greatest integer of 64 bits.
	half uint64
}

func rangeOf(t arrow.DataType) decimalRange {
	r := decimalRange{limit: powers[t.(*arrow.Decimal128Type).Precision], half: math.MaxInt64}
	if r.limit.high == 0 && r.limit.low <= math.MaxInt64 {
		r.half = r.limit.low - 1
	}
	return r
}

// has reports whether a decimal is in the range. Almost all values fit into 64 bits, so that is looked at first.
func (r *decimalRange) has(d decimal) bool {
	return d.isShort() && d.low+r.half <= 2*r.half || d.magnitude().less(r.limit)
}

// decimalLoop returns the loop of an operation on two decimals, or nil. Results with too many
// digits for the type are null.
func decimalLoop(op exprtree.Op, t arrow.DataType) checkedBinaryLoop {
	fit := rangeOf(t)
	switch op {
	case exprtree.Add:
		return checkedBinary(func(to, x, y []decimal) (valid uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				a, b := x[i], y[i]
				low, carry := bits.Add64(a.low, b.low, 0)
				high, _ := bits.Add64(a.high, b.high, carry)
				to[i] = decimal{low, high}
				overflow := ^(a.high ^ b.high) & (a.high ^ high)
				valid |= uint64(bit(int64(overflow) >= 0 && fit.has(decimal{low, high}))) << i
			}
			return valid
		})
	case exprtree.Subtract:
		return checkedBinary(func(to, x, y []decimal) (valid uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				a, b := x[i], y[i]
				low, borrow := bits.Sub64(a.low, b.low, 0)
				high, _ := bits.Sub64(a.high, b.high, borrow)
				to[i] = decimal{low, high}
				overflow := (a.high ^ b.high) & (a.high ^ high)
				valid |= uint64(bit(int64(overflow) >= 0 && fit.has(decimal{low, high}))) << i
			}
			return valid
		})
	case exprtree.Multiply:
		return checkedBinary(decimalMultiplication(t))
	}
	return nil
}

// decimalMultiplication returns the loop of products.
func decimalMultiplication(t arrow.DataType) func(to, x, y []decimal) (valid uint64) {
	fit := rangeOf(t)
	return func(to, x, y []decimal) (valid uint64) {
		x, y = x[:len(to)], y[:len(to)]
		for i := range to {
			a, b := x[i], y[i]
			if a.isShort() && b.isShort() {
				high, low := bits.Mul64(a.low, b.low)
				product := decimal{low, high - a.high&b.low - b.high&a.low}
				to[i] = product
				valid |= uint64(bit(fit.has(product))) << i
				continue
			}
			product, fine := a.times(b)
			to[i] = product
			valid |= uint64(bit(fine && fit.has(product))) << i
		}
		return valid
	}
}

// times returns the product, and whether it fits 128 bits.
func (d decimal) times(other decimal) (decimal, bool) {
	product, ok := d.magnitude().times(other.magnitude())
	fits := ok && product.high>>63 == 0
	if d.sign() != other.sign() {
		product = product.negated()
	}
	return decimal{product.low, product.high}, fits
}

// isLess returns 1 if a decimal is less than another one, and 0 otherwise.
func (d decimal) isLess(other decimal) byte {
	const sign = 1 << 63
	_, borrow := bits.Sub64(d.low, other.low, 0)
	_, borrow = bits.Sub64(d.high^sign, other.high^sign, borrow)
	return byte(borrow)
}

// decimalComparison returns the loop of a comparison. Those of Greater and GreaterEqual are
// for exchanged operands.
func decimalComparison(op exprtree.Op) comparisonLoop {
	each := func(compare func(x, y decimal) byte) comparisonLoop {
		return comparison(func(to []byte, x, y []decimal) {
			for i := range to {
				x, y := (*[8]decimal)(x[8*i:]), (*[8]decimal)(y[8*i:])
				truths := byte(0)
				for j := range x {
					truths |= compare(x[j], y[j]) << j
				}
				to[i] = truths
			}
		})
	}
	switch op {
	case exprtree.Equal:
		return each(func(x, y decimal) byte { return bit(x == y) })
	case exprtree.NotEqual:
		return each(func(x, y decimal) byte { return bit(x != y) })
	case exprtree.Less, exprtree.Greater:
		return comparison(lessDecimals)
	}
	return comparison(func(to []byte, x, y []decimal) {
		lessDecimals(to, y, x)
		for i := range to {
			to[i] = ^to[i]
		}
	})
}

func lessDecimals(to []byte, x, y []decimal) {
	for i := range to {
		x, y := (*[8]decimal)(x[8*i:]), (*[8]decimal)(y[8*i:])
		to[i] = x[0].isLess(y[0]) | x[1].isLess(y[1])<<1 | x[2].isLess(y[2])<<2 | x[3].isLess(y[3])<<3 |
			x[4].isLess(y[4])<<4 | x[5].isLess(y[5])<<5 | x[6].isLess(y[6])<<6 | x[7].isLess(y[7])<<7
	}
}
