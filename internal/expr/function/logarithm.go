package function

import "math"

// ln x is k · ln 2 + 2 · (s + s³/3 + …), as log10.go has it. log1p and log2 are within 1 unit in the last
// place of the exact result, the inverses of the hyperbolic functions within 3.

var (
	_ = registerFormula("log1p", logarithm1p[float64, onHost], logarithm1p[register64, onDevice])
	_ = registerFormula("log2", logarithm2[float64, onHost], logarithm2[register64, onDevice])
	_ = registerFormula("asinh", inverseSine[float64, onHost], inverseSine[register64, onDevice])
	_ = registerFormula("acosh", inverseCosine[float64, onHost], inverseCosine[register64, onDevice])
	_ = registerFormula("atanh", inverseTangent[float64, onHost], inverseTangent[register64, onDevice])
)

const log2ETail = 0x1.777d0ffda0d24p-56 // log2 e without math.Log2E

// logarithmOf returns k and the logarithm of m, a sum of two numbers, with x = m · 2^k.
func logarithmOf[N any, C calculator[N]](c C, x N) (k, ln, rest N) {
	m, k := c.split(x)
	unit := c.constant(1)
	f, d := c.sub(m, unit), c.add(m, unit)
	dTail := c.sub(m, c.sub(d, unit))
	s := c.div(f, d)
	minus := negative(c, s)
	sTail := c.div(c.fma(minus, dTail, c.fma(minus, d, f)), d)
	square := c.mul(s, s)
	return k, c.add(s, s), c.fma(c.mul(s, square), series(c, square, atanhTerms[:]), c.add(sTail, sTail))
}

func logarithm1p[N any, C calculator[N]](c C, x N) N {
	zero, infinity := c.constant(0), c.constant(math.Inf(1))
	total, lost := sum(c, c.constant(1), x)
	k, ln, rest := logarithmOf(c, total)
	// ln(t + l) is ln t + l/t, but for less than the square of l/t.
	rest = c.add(rest, c.div(lost, total))
	result, lost2 := sum(c, c.mul(k, c.constant(ln2Head)), ln)
	result = c.add(result, c.add(lost2, c.fma(k, c.constant(ln2Tail), rest)))
	result = c.equal(x, zero, x, c.equal(x, infinity, x, result))
	result = c.equal(x, c.constant(-1), c.constant(math.Inf(-1)), result)
	return c.less(c.constant(-1.5), x, c.less(x, c.constant(-1), c.constant(math.NaN()), result), c.constant(math.NaN()))
}

func logarithm2[N any, C calculator[N]](c C, x N) N {
	zero, infinity := c.constant(0), c.constant(math.Inf(1))
	scaled := c.less(x, c.constant(least), c.mul(x, c.constant(1<<subShift)), x)
	k, ln, rest := logarithmOf(c, scaled)
	k = c.less(x, c.constant(least), c.sub(k, c.constant(subShift)), k)
	log := c.mul(ln, c.constant(math.Log2E))
	tail := c.fma(rest, c.constant(math.Log2E), c.fma(ln, c.constant(log2ETail), c.fma(ln, c.constant(math.Log2E), negative(c, log))))
	result, lost := sum(c, k, log)
	result = c.equal(x, infinity, x, c.add(result, c.add(lost, tail)))
	return c.less(zero, x, result, c.equal(x, zero, c.constant(math.Inf(-1)), c.constant(math.NaN())))
}

// large is a number from which on its square plus or minus 1 has the root x.
const large = 0x1p+30

func inverseSine[N any, C calculator[N]](c C, x N) N {
	a, unit := c.abs(x), c.constant(1)
	square := c.mul(a, a)
	small := c.add(a, c.div(square, c.add(unit, c.sqrt(c.add(square, unit)))))
	return c.equal(x, c.constant(0), x, c.signed(ofTwice(c, a, small), x))
}

func inverseCosine[N any, C calculator[N]](c C, x N) N {
	t := c.sub(x, c.constant(1))
	small := c.add(t, c.sqrt(c.fma(t, t, c.add(t, t))))
	return c.less(x, c.constant(1), c.constant(math.NaN()), ofTwice(c, x, small))
}

// ofTwice returns log1p of a number or, of a large x, ln(2x).
func ofTwice[N any, C calculator[N]](c C, x, small N) N {
	bound, zero := c.constant(large), c.constant(0)
	log := logarithm1p(c, c.less(bound, x, c.sub(x, c.constant(1)), small))
	return c.add(log, c.less(bound, x, c.constant(math.Ln2), zero))
}

func inverseTangent[N any, C calculator[N]](c C, x N) N {
	a := c.abs(x)
	twice := c.add(a, a)
	argument := c.div(twice, c.sub(c.constant(1), a))
	return c.signed(c.mul(c.constant(0.5), logarithm1p(c, argument)), x)
}
