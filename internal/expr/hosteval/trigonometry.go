package hosteval

import (
	"math"
	"math/bits"
)

// sine and cosine have errors of less than one unit in the last place, also for large
// numbers for which math.Sin loses digits.
func sine(x float64) float64   { return sineOf(x, 0) }
func cosine(x float64) float64 { return sineOf(x, 1) }

// sineOf returns the sine of x plus a number of quarter turns.
func sineOf(x float64, quarters uint64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.NaN()
	}
	r := double{high: math.Abs(x)}
	negative := math.Signbit(x) && quarters == 0
	if r.high > math.Pi/4 {
		var whole uint64
		whole, r = turned(r.high)
		quarters += whole
	}
	var result float64
	if quarters%2 == 0 {
		result = sineSeries(r)
	} else {
		result = cosineSeries(r)
	}
	if (quarters%4 >= 2) != negative {
		return -result
	}
	return result
}

// sineSeries is accurate up to π/4. The first term is added last.
func sineSeries(r double) float64 {
	square := r.high * r.high
	sum := 0.0
	for n := 18.0; n >= 4; n -= 2 {
		sum = (1 - sum) * square / (n * (n + 1))
	}
	cube := r.high * square / 6 * (1 - sum)
	return r.high + (r.low*(1-square/2) - cube)
}

func cosineSeries(r double) float64 {
	square := r.high * r.high
	sum := 0.0
	for n := 17.0; n >= 5; n -= 2 {
		sum = (1 - sum) * square / (n * (n + 1))
	}
	half := square / 2
	fourth := square * square / 24 * (1 - sum)
	most := 1 - half
	lost := (1 - most) - half - math.FMA(r.high, r.high, -square)/2
	return most + (lost + (fourth - r.high*r.low))
}

// twoOverPi are the binary digits of 2/π after 64 zeros.
var twoOverPi = [...]uint64{
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
}

// turned subtracts quarter turns from x > 0. It returns their number, modulo a full
// turn, and the remaining angle, by the method of Payne and Hanek, which multiplies
// only the relevant digits of 2/π.
func turned(x float64) (quarters uint64, rest double) {
	fraction, exponent := math.Frexp(x)
	m := uint64(math.Ldexp(fraction, 53))
	first := exponent - 53 - 2 + 64 // earlier digits give whole turns
	word, shift := first/64, first%64
	var window [3]uint64
	for i := range window {
		window[i] = twoOverPi[word+i]<<shift | twoOverPi[word+i+1]>>(64-shift)
	}
	over1, low := bits.Mul64(m, window[2])
	over0, middle := bits.Mul64(m, window[1])
	middle, carry := bits.Add64(middle, over1, 0)
	high := m*window[0] + over0 + carry
	quarters = high >> 62
	high, middle, low = high<<2|middle>>62, middle<<2|low>>62, low<<2
	negative := high>>63 == 1
	if negative { // the next quarter turn is nearer
		quarters++
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		middle, borrow = bits.Sub64(0, middle, borrow)
		high, _ = bits.Sub64(0, high, borrow)
	}
	// Each of the three parts has no more digits than a float64.
	part := double{high: math.Ldexp(float64(high>>11), -53)}
	part = part.plus(double{high: math.Ldexp(float64(high<<53>>11|middle>>22), -106)})
	part = part.plus(double{high: math.Ldexp(float64(middle<<42>>11|low>>33), -159)})
	rest = part.times(double{math.Pi / 2, 0x1.1a62633145c07p-54})
	if negative {
		rest = double{-rest.high, -rest.low}
	}
	return quarters, rest
}
