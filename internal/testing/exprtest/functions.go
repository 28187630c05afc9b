package exprtest

import (
	"math"
	"math/big"
)

// The functions here compute with more digits than are ever lost and round once, except
// for results outside of float64's normal numbers.

const (
	digits = 300
	// angleDigits is for the sine of numbers up to 2^1024.
	angleDigits = digits + 1024
)

func number(x float64) *big.Float { return new(big.Float).SetPrec(angleDigits).SetFloat64(x) }

func zero(precision uint) *big.Float { return new(big.Float).SetPrec(precision) }

// Exp returns e to the power of x.
func Exp(x float64) float64 {
	if math.IsNaN(x) || math.Abs(x) > 1000 {
		return math.Exp(x)
	}
	return float(exp(number(x)))
}

// Log returns the natural logarithm.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) || x == 1 {
		return math.Log(x)
	}
	return float(log(x))
}

// Log10 returns the decimal logarithm.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) || x == 1 {
		return math.Log10(x)
	}
	return float(zero(digits).Quo(log(x), log(10)))
}

// Pow returns x to the power of y.
func Pow(x, y float64) float64 {
	switch {
	case x == 0 || math.IsInf(x, 0) || y == 0 || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y) || x == 1 || x < 0 && y != math.Trunc(y):
		return math.Pow(x, y)
	case x < 0 && math.Mod(y, 2) != 0:
		return -Pow(-x, y)
	}
	power := zero(digits).Mul(log(math.Abs(x)), number(y))
	if rough, _ := power.Float64(); math.Abs(rough) > 1000 {
		return math.Exp(rough)
	}
	return float(exp(power))
}

// Sin returns the sine of x radians, Cos the cosine.
func Sin(x float64) float64 { return sine(x, 0) }

// Cos returns the cosine of x radians.
func Cos(x float64) float64 { return sine(x, 1) }

// sine returns the sine of x plus a number of quarter turns.
func sine(x float64, quarters int64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		if quarters == 1 {
			return math.Cos(x)
		}
		return math.Sin(x)
	}
	turns := zero(angleDigits).Quo(number(x), quarterTurn)
	turns.Add(turns, number(math.Copysign(0.5, x)))
	whole, _ := turns.Int(nil)
	rest := zero(angleDigits).SetInt(whole)
	rest.Sub(number(x), rest.Mul(rest, quarterTurn))
	whole.Add(whole, big.NewInt(quarters))
	switch whole.And(whole, big.NewInt(3)).Int64() {
	case 0:
		return float(series(rest, 1))
	case 1:
		return float(series(rest, 0))
	case 2:
		return -float(series(rest, 1))
	default:
		return -float(series(rest, 0))
	}
}

func float(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// series returns x^n/n! - x^(n+2)/(n+2)! + …
func series(x *big.Float, n int64) *big.Float {
	term := zero(digits).SetInt64(1)
	if n == 1 {
		term.Set(x)
	}
	square := zero(digits).Mul(x, x)
	sum := zero(digits).Set(term)
	for ; n < 120; n += 2 {
		term.Mul(term, square)
		term.Quo(term, number(float64((n+1)*(n+2))))
		term.Neg(term)
		sum.Add(sum, term)
	}
	return sum
}

func exp(x *big.Float) *big.Float {
	rough, _ := x.Float64()
	power := math.Round(rough / math.Ln2)
	rest := zero(digits).Mul(number(power), ln2)
	rest.Sub(x, rest)
	term, sum := zero(digits).SetInt64(1), zero(digits).SetInt64(1)
	for n := 1.0; n < 80; n++ {
		term.Mul(term, rest)
		term.Quo(term, number(n))
		sum.Add(sum, term)
	}
	return sum.SetMantExp(sum, int(power))
}

func log(x float64) *big.Float {
	m, exponent := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, exponent = 2*m, exponent-1
	}
	unit := number(1)
	s := zero(digits).Quo(zero(digits).Sub(number(m), unit), zero(digits).Add(number(m), unit))
	sum := inverseTangent(s, false)
	sum.Add(sum, sum)
	return sum.Add(sum, zero(digits).Mul(number(float64(exponent)), ln2))
}

// inverseTangent returns the arc tangent, or the inverse hyperbolic tangent, of a small
// number.
func inverseTangent(s *big.Float, alternate bool) *big.Float {
	precision := s.Prec()
	square := zero(precision).Mul(s, s)
	if alternate {
		square.Neg(square)
	}
	term, sum := zero(precision).Set(s), zero(precision).Set(s)
	for n := 3.0; n < float64(precision); n += 2 {
		term.Mul(term, square)
		sum.Add(sum, zero(precision).Quo(term, number(n)))
	}
	return sum
}

func reciprocal(n float64, precision uint) *big.Float {
	return zero(precision).Quo(number(1), number(n))
}

var (
	ln2 = func() *big.Float {
		third := inverseTangent(reciprocal(3, digits), false)
		return third.Add(third, third)
	}()
	// quarterTurn is by Machin's formula.
	quarterTurn = func() *big.Float {
		a := inverseTangent(reciprocal(5, angleDigits), true)
		b := inverseTangent(reciprocal(239, angleDigits), true)
		a.Mul(a, number(8))
		return a.Sub(a, b.Mul(b, number(2)))
	}()
)
