package function

import "math"

// e^x is 2^k · (1 + q) with k the nearest whole number to x · log2 e and q = e^r − 1 of the rest r, at most
// ½ ln 2, by its series. q is a sum of two float64. So expm1, sinh and cosh are within 1 unit in the last
// place of the exact result, and tanh within 2.

var (
	_ = registerFormula("expm1", exponentialLess1[float64, onHost], exponentialLess1[register64, onDevice])
	_ = registerFormula("sinh", hyperbolicSine[float64, onHost], hyperbolicSine[register64, onDevice])
	_ = registerFormula("cosh", hyperbolicCosine[float64, onHost], hyperbolicCosine[register64, onDevice])
	_ = registerFormula("tanh", hyperbolicTangent[float64, onHost], hyperbolicTangent[register64, onDevice])
)

// ln 2 in parts: the first has 42 bits, so that its product with an exponent is exact.
const (
	ln2Head = 0x1.62e42fefa3800p-1
	ln2Tail = 0x1.ef35793c76730p-45
)

// powerFactors are the factors of r¹⁴/r² … r²/r².
var powerFactors = func() (factors []float64) {
	factorial := 1.
	for n := 2.; n <= 14; n++ {
		factorial *= n
		factors = append([]float64{1 / factorial}, factors...)
	}
	return factors
}()

// exponential returns k, q and the rest of q with e^x = 2^k · (1 + q).
func exponential[N any, C calculator[N]](c C, x N) (k, q, rest N) {
	k = c.nearest(c.mul(x, c.constant(math.Log2E)))
	r0, minus := c.fma(negative(c, k), c.constant(ln2Head), x), c.mul(negative(c, k), c.constant(ln2Tail))
	r, lost := sum(c, r0, minus)
	terms := c.mul(c.mul(r, r), series(c, r, powerFactors))
	q, rest = sum(c, r, terms)
	return k, q, c.add(rest, c.fma(lost, r, lost))
}

// within limits a number, but not NaN.
func within[N any, C calculator[N]](c C, x N, least, most float64) N {
	low, high := c.constant(least), c.constant(most)
	return c.less(x, low, low, c.less(high, x, high, x))
}

func exponentialLess1[N any, C calculator[N]](c C, x N) N {
	k, q, rest := exponential(c, within(c, x, -60, 710)) // at −60 the result is −1
	half := c.power(c.sub(k, c.constant(1)))             // 2^1024 does not exist
	total, lost := sum(c, half, c.mul(half, q))
	result, lost2 := sum(c, total, c.constant(-0.5))
	result = c.add(result, c.add(lost2, c.fma(half, rest, lost)))
	return c.less(c.abs(x), c.constant(0x1p-54), x, c.mul(result, c.constant(2))) // subnormal numbers have no halves
}

// halves returns half of the sum of e^|x| and of e^−|x| with a factor. An eighth of it does not overflow.
func halves[N any, C calculator[N]](c C, x N, factor float64) N {
	x = within(c, c.abs(x), 0, 711)
	k, q, rest := exponential(c, x)
	_, p, rest2 := exponential(c, negative(c, x))
	high := c.power(c.sub(k, c.constant(3)))
	low := c.mul(c.power(c.sub(c.constant(-3), within(c, k, 0, 100))), c.constant(factor))
	total, lost := sum(c, high, low)
	total, lost2 := sum(c, total, c.mul(high, q))
	total, lost3 := sum(c, total, c.mul(low, p))
	lost = c.add(c.add(lost, lost2), c.add(lost3, c.fma(high, rest, c.mul(low, rest2))))
	return c.mul(c.add(total, lost), c.constant(4))
}

func hyperbolicSine[N any, C calculator[N]](c C, x N) N {
	return c.less(c.abs(x), c.constant(0x1p-28), x, c.signed(halves(c, x, -1), x))
}

func hyperbolicCosine[N any, C calculator[N]](c C, x N) N { return halves(c, x, 1) }

func hyperbolicTangent[N any, C calculator[N]](c C, x N) N {
	// (1 − e^−2x) / (1 + e^−2x)
	less := negative(c, exponentialLess1(c, c.mul(c.abs(x), c.constant(-2))))
	return c.signed(c.div(less, c.sub(c.constant(2), less)), x)
}
