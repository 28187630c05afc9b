package packed

import "math"

// Many floats are decimals: 12.5 is 125 / 10. Such values are integers and one power of ten for a tile, if a division
// gives exactly the same bits for all of them. The idea is that of ALP (Afroozeh, Kuffó, Boncz 2023), without exceptions.

var powersOfTen = [mostExponent + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// quotient returns the bits of the float that an integer is with an exponent.
func (k kind) quotient(code int64, exponent uint8) int64 {
	value := float64(code) / powersOfTen[exponent]
	if k == floats4 {
		return int64(math.Float32bits(float32(value)))
	}
	return int64(math.Float64bits(value))
}

// codeOf returns the integer that a float, by its bits, is with an exponent.
func (k kind) codeOf(bits int64, exponent uint8) (code int64, ok bool) {
	scaled := math.RoundToEven(k.floatOf(bits) * powersOfTen[exponent])
	if !(math.Abs(scaled) < 1<<53) { // a NaN too
		return 0, false
	}
	code = int64(scaled)
	return code, k.quotient(code, exponent) == bits
}

// decimalCodes replaces floats by integers, if there is an exponent for all of them.
func (k kind) decimalCodes(values, codes []int64) (exponent uint8, ok bool) {
	for i := 0; i < len(values); i++ {
		code, ok := k.codeOf(values[i], exponent)
		if !ok {
			if exponent++; exponent > mostExponent {
				return 0, false
			}
			i = -1
			continue
		}
		codes[i] = code
	}
	return exponent, true
}
