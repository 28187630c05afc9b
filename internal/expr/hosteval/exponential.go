package hosteval

import "math"

// ln2High has few enough digits that its products with exponents are exact; the other
// two constants are the remaining digits of ln 2.
const (
	ln2High = 0x1.62e42feep-1
	ln2Low  = 0x1.a39ef35793c76p-33
	ln2Rest = 0x1.cc01f97b57a08p-87
)

// exponential is exp, with an error of less than one unit in the last place. math.Exp
// differs between processors, and on some it overflows too early.
func exponential(x float64) float64 { return exponentialOf(x, 0) }

// exponentialOf returns exp(x + rest). It extracts powers of two from the argument and
// sums the series of the remainder, which is less than 0.35.
func exponentialOf(x, rest float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	power := math.RoundToEven(x * (1 / math.Ln2))
	high := x - power*ln2High
	low := rest - power*ln2Low
	r := high + low
	// The terms from r²/2.
	sum := 0.0
	for n := 16.0; n >= 3; n-- {
		sum = (sum + 1) * r / n
	}
	sum = (sum + 1) * r * r / 2
	return math.Ldexp(1+(high+(low+sum)), int(power))
}

// power is C's pow, with an error of about half a unit in the last place. The error of
// math.Pow grows with the logarithm of the result.
func power(x, y float64) float64 {
	special := x == 0 || math.IsNaN(x) || math.IsInf(x, 0) || y == 0 || math.IsNaN(y) || math.IsInf(y, 0) || x == 1
	whole := y == math.Trunc(y)
	switch {
	case special || x < 0 && !whole:
		return math.Pow(x, y)
	case x < 0 && math.Mod(y, 2) != 0:
		return -power(-x, y)
	case x < 0:
		x = -x
	}
	if rough := logarithm(x) * y; math.Abs(rough) > 1000 {
		return exponential(rough)
	}
	product := logarithmOf(x).times(double{high: y})
	return exponentialOf(product.high, product.low)
}

// double is the sum of two numbers; the second is too small to change the first.
type double struct{ high, low float64 }

func (a double) plus(b double) double {
	high := a.high + b.high
	part := high - a.high
	low := (a.high - (high - part)) + (b.high - part) + a.low + b.low
	return normal(high, low)
}

func (a double) times(b double) double {
	high := a.high * b.high
	low := math.FMA(a.high, b.high, -high)
	low += a.high*b.low + a.low*b.high
	return normal(high, low)
}

func (a double) over(b double) double {
	high := a.high / b.high
	low := (math.FMA(-high, b.high, a.high) - high*b.low + a.low) / b.high
	return normal(high, low)
}

func normal(high, low float64) double {
	sum := high + low
	return double{sum, low - (sum - high)}
}

// logarithmOf returns the logarithm of a positive number with twice the digits, by the
// series of the inverse hyperbolic tangent of (m-1)/(m+1).
func logarithmOf(x float64) double {
	m, exponent := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, exponent = 2*m, exponent-1
	}
	// m-1 is exact, m+1 is not.
	s := double{high: m - 1}.over(double{high: 1}.plus(double{high: m}))
	square := s.times(s)
	var sum double
	for n := 45.0; n >= 1; n -= 2 {
		sum = sum.times(square).plus(double{high: 1}.over(double{high: n}))
	}
	sum = sum.times(s).times(double{high: 2})
	e := float64(exponent)
	return double{high: e * ln2High}.plus(double{high: e}.times(double{high: ln2Low, low: ln2Rest})).plus(sum)
}
