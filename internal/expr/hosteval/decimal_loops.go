package hosteval

import (
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

// shortDigits is the number of digits that every value of 64 bits fits into.
const shortDigits = 19

// decimalLoop returns the loop of an operation on two decimals, or nil. Results with too many
// digits for the type are null. Almost all values fit into 64 bits, so that is looked at first.
func decimalLoop(op exprtree.Op, t arrow.DataType) checkedBinaryLoop {
	limit := powers[t.(*arrow.Decimal128Type).Precision]
	short := t.(*arrow.Decimal128Type).Precision >= shortDigits
	fits := func(d decimal) bool { return d.magnitude().less(limit) }
	switch op {
	case exprtree.Add:
		return checkedBinary(func(to, x, y []decimal) (valid uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				low, carry := bits.Add64(x[i].low, y[i].low, 0)
				high, _ := bits.Add64(x[i].high, y[i].high, carry)
				to[i] = decimal{low, high}
				overflow := ^(x[i].high ^ y[i].high) & (x[i].high ^ high)
				if int64(overflow) >= 0 && (short && to[i].isShort() || fits(to[i])) {
					valid |= 1 << i
				}
			}
			return valid
		})
	case exprtree.Subtract:
		return checkedBinary(func(to, x, y []decimal) (valid uint64) {
			x, y = x[:len(to)], y[:len(to)]
			for i := range to {
				low, borrow := bits.Sub64(x[i].low, y[i].low, 0)
				high, _ := bits.Sub64(x[i].high, y[i].high, borrow)
				to[i] = decimal{low, high}
				overflow := (x[i].high ^ y[i].high) & (x[i].high ^ high)
				if int64(overflow) >= 0 && (short && to[i].isShort() || fits(to[i])) {
					valid |= 1 << i
				}
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
	limit := powers[t.(*arrow.Decimal128Type).Precision]
	short := t.(*arrow.Decimal128Type).Precision >= shortDigits
	return func(to, x, y []decimal) (valid uint64) {
		x, y = x[:len(to)], y[:len(to)]
		for i := range to {
			fine := true
			if x[i].isShort() && y[i].isShort() {
				high, low := bits.Mul64(x[i].low, y[i].low)
				to[i] = decimal{low, high - x[i].high&y[i].low - y[i].high&x[i].low}
			} else {
				to[i], fine = x[i].times(y[i])
			}
			if fine && (short && to[i].isShort() || to[i].magnitude().less(limit)) {
				valid |= 1 << i
			}
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
