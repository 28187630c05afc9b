package window

import "math/bits"

// decimal is the low and the high word of a 128-bit integer.
type decimal = [2]uint64

func (o how) decimals(in hostInput, out hostOutput) {
	values, results := as[decimal](in.values), as[decimal](out.values)
	// Only sums, minima and maxima take decimals.
	high := o.turn(storage{signed, 16})
	turn := decimal{-(high & 1), high}
	if o == sum {
		turn = decimal{}
	}
	so := decimal{}
	if o != sum {
		so = decimal{^uint64(0), ^uint64(0)}
	}
	for row := range in.rows {
		if in.isValid(row) {
			value := decimal{values[row][0] ^ turn[0], values[row][1] ^ turn[1]}
			switch {
			case o == sum:
				so = addDecimal(so, value)
			case lessDecimal(value, so):
				so = value
			}
		}
		results[row] = decimal{so[0] ^ turn[0], so[1] ^ turn[1]}
	}
}

func addDecimal(a, b decimal) decimal {
	low, carry := bits.Add64(a[0], b[0], 0)
	high, _ := bits.Add64(a[1], b[1], carry)
	return decimal{low, high}
}

// lessDecimal compares without regard to the sign.
func lessDecimal(a, b decimal) bool { return a[1] < b[1] || a[1] == b[1] && a[0] < b[0] }
