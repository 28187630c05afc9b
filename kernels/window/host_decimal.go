package window

import "math/bits"

// decimal is the low and the high word of a 128-bit integer.
type decimal = [2]uint64

func addDecimal(a, b decimal) decimal {
	low, carry := bits.Add64(a[0], b[0], 0)
	high, _ := bits.Add64(a[1], b[1], carry)
	return decimal{low, high}
}

// lessDecimal compares decimals as unsigned integers.
func lessDecimal(a, b decimal) bool { return a[1] < b[1] || a[1] == b[1] && a[0] < b[0] }
