package function

import "math"

// The angle of a point with y ≤ x is atan a + atan r, with a the nearest quarter of y/x, and
// r = (y − a·x) / (x + a·y), which is at most ⅛. Sums of two float64 keep the digits of the larger
// terms, so atan and atan2 are within 1 unit in the last place of the exact result. The argument of asin
// and acos is rounded once more before the angle: they are within 2.

var (
	_ = registerFormula2("atan2", angle[float64, onHost], angle[register64, onDevice])
	_ = registerFormula("atan", arctangent[float64, onHost], arctangent[register64, onDevice])
	_ = registerFormula("asin", arcsine[float64, onHost], arcsine[register64, onDevice])
	_ = registerFormula("acos", arccosine[float64, onHost], arccosine[register64, onDevice])
)

// quarterAngles are the angles of 0, ¼, ½, ¾ and 1, and what float64 lacks of them.
var quarterAngles = [...][2]float64{
	{0, 0},
	{0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
	{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
	{0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
	{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
}

const piTail = 0x1.1a62633145c07p-53 // π without math.Pi

// atanFactors are the factors of r²¹/r³ … r³/r³.
var atanFactors = []float64{1. / 21, -1. / 19, 1. / 17, -1. / 15, 1. / 13, -1. / 11, 1. / 9, -1. / 7, 1. / 5, -1. / 3}

func angle[N any, C calculator[N]](c C, y, x N) N {
	zero, unit, infinity := c.constant(0), c.constant(1), c.constant(math.Inf(1))
	ay, ax := c.abs(y), c.abs(x)
	near, far := c.less(ax, ay, ax, ay), c.less(ax, ay, ay, ax)
	near = c.equal(far, infinity, c.equal(near, infinity, unit, zero), near)
	far = c.equal(far, infinity, unit, c.equal(far, zero, unit, far))
	// Without overflow and without subnormal numbers.
	scale := c.less(far, c.constant(0x1p-900), c.constant(0x1p+200), c.less(c.constant(0x1p+1000), far, c.constant(0x1p-100), unit))
	near, far = c.mul(near, scale), c.mul(far, scale)

	quarters := c.nearest(c.mul(c.div(near, far), c.constant(4)))
	a := c.mul(quarters, c.constant(0.25))
	above, below := c.fma(negative(c, a), far, near), c.fma(a, near, far)
	r := c.div(above, below)
	rest := c.div(c.fma(negative(c, r), below, above), below)
	square := c.mul(r, r)
	rest = c.fma(c.mul(r, square), series(c, square, atanFactors), rest)
	head, tail := zero, zero
	for i, angle := range quarterAngles {
		number := c.constant(float64(i))
		head, tail = c.equal(quarters, number, c.constant(angle[0]), head), c.equal(quarters, number, c.constant(angle[1]), tail)
	}
	total, lost := sum(c, head, r)
	rest = c.add(lost, c.add(tail, rest))

	// From the other axis, and from the other end of the axis.
	mirror := func(isOther func(isTrue, isFalse N) N, turn, turnTail float64) {
		other, lost := sum(c, c.constant(turn), negative(c, total))
		rest = isOther(c.add(c.sub(c.constant(turnTail), rest), lost), rest)
		total = isOther(other, total)
	}
	mirror(func(isTrue, isFalse N) N { return c.less(ax, ay, isTrue, isFalse) }, math.Pi/2, piTail/2)
	sign := c.signed(unit, x)
	mirror(func(isTrue, isFalse N) N { return c.less(sign, zero, isTrue, isFalse) }, math.Pi, piTail)
	result := c.signed(c.add(total, rest), y)
	return c.equal(x, x, c.equal(y, y, result, y), x)
}

func arctangent[N any, C calculator[N]](c C, x N) N { return angle(c, x, c.constant(1)) }

// opposite returns √(1 − x²), NaN beyond 1.
func opposite[N any, C calculator[N]](c C, x N) N {
	return c.sqrt(c.fma(negative(c, x), x, c.constant(1)))
}

func arcsine[N any, C calculator[N]](c C, x N) N { return angle(c, x, opposite(c, x)) }

func arccosine[N any, C calculator[N]](c C, x N) N { return angle(c, opposite(c, x), x) }
