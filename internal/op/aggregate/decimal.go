package aggregate

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
)

const (
	// mostDigits is the number of digits of a decimal of 128 bits.
	mostDigits = 38
	// meanDigits is the number of digits that the mean of decimals has behind those of its values.
	meanDigits = 4
	// leastAhead is the number of digits before the point that a mean leaves to decimals of more
	// than mostDigits − meanDigits digits: all integers of 64 bits have as many.
	leastAhead = 19
)

// MeanOfDecimals returns the type of the mean of decimals: four more digits behind the point, and as
// many ahead of it. If that is more than 38 digits, the type has 38, and the four are taken from
// those before the point as long as 19 are left there.
func MeanOfDecimals(t *arrow.Decimal128Type) *arrow.Decimal128Type {
	ahead := t.Precision - t.Scale
	scale := min(t.Scale+meanDigits, max(mostDigits-ahead, mostDigits-leastAhead))
	return &arrow.Decimal128Type{Precision: min(ahead+scale, mostDigits), Scale: scale}
}

// MeanFactor returns the number that the sum of decimals is multiplied by before it is divided by
// their number, so that the mean has the type of [MeanOfDecimals].
func MeanFactor(t *arrow.Decimal128Type) uint64 {
	factor := uint64(1)
	for range MeanOfDecimals(t).Scale - t.Scale {
		factor *= 10
	}
	return factor
}

// TooLong is the smallest number of 39 digits, the low word first.
var TooLong = [2]uint64{0x98a224000000000, 0x4b3b4ca85a86c47a}

// FitsDecimal reports whether an integer of 192 bits, the lowest word first, has at most 38 digits.
func FitsDecimal(x [3]uint64) bool {
	if int64(x[2]) < 0 {
		x = Negated(x)
	}
	return x[2] == 0 && (x[1] < TooLong[1] || x[1] == TooLong[1] && x[0] < TooLong[0])
}

// DecimalMean returns sum · factor / count, rounded half away from zero, or false if it has more
// than 38 digits. The sum, of values of 128 bits, has the lowest word first. There are fewer than 2⁴⁹
// values, more than fit any memory, so that the product has 192 bits.
func DecimalMean(sum [3]uint64, count, factor uint64) (mean [2]uint64, ok bool) {
	negative := int64(sum[2]) < 0
	if negative {
		sum = Negated(sum)
	}
	var carry uint64
	for i, word := range sum {
		high, low := bits.Mul64(word, factor)
		low, above := bits.Add64(low, carry, 0)
		sum[i], carry = low, high+above
	}
	rest := uint64(0)
	for i := len(sum) - 1; i >= 0; i-- {
		sum[i], rest = bits.Div64(rest, sum[i], count)
	}
	if rest >= count-rest {
		for i := range sum {
			if sum[i]++; sum[i] != 0 {
				break
			}
		}
	}
	ok = FitsDecimal(sum)
	if negative {
		sum = Negated(sum)
	}
	return [2]uint64(sum[:2]), ok
}

// Negated returns −x of 192 bits, the lowest word first.
func Negated(x [3]uint64) [3]uint64 {
	low, borrow := bits.Sub64(0, x[0], 0)
	middle, borrow := bits.Sub64(0, x[1], borrow)
	high, _ := bits.Sub64(0, x[2], borrow)
	return [3]uint64{low, middle, high}
}
