package kerneltest

import (
	"math"
	"math/big"
)

type rounding uint8

const (
	nearest rounding = iota // to even
	towardZero
	downward
	upward
)

// exactValue is a result before rounding: a special value, or a number with enough
// digits that one rounding gives the correct result.
type exactValue struct {
	special   float64
	isSpecial bool
	number    *big.Float
}

// exactDigits can hold any sum of a float64 product and a float64.
const exactDigits = 4400

func special(x float64) exactValue { return exactValue{special: x, isSpecial: true} }

func ordinary(x float64) bool { return !math.IsInf(x, 0) && x == x }

func exactBig(x float64) *big.Float { return new(big.Float).SetPrec(exactDigits).SetFloat64(x) }

func exactSum(x, y float64, mode rounding) exactValue { return exactFma(x, 1, y, mode) }

func exactProduct(x, y float64) exactValue {
	if !ordinary(x) || !ordinary(y) || x == 0 || y == 0 {
		return special(x * y)
	}
	return exactValue{number: new(big.Float).SetPrec(exactDigits).Mul(exactBig(x), exactBig(y))}
}

func exactFma(x, y, z float64, mode rounding) exactValue {
	if !ordinary(x) || !ordinary(y) || !ordinary(z) {
		return special(x*y + z)
	}
	product := new(big.Float).SetPrec(exactDigits).Mul(exactBig(x), exactBig(y))
	sum := new(big.Float).SetPrec(exactDigits).Add(product, exactBig(z))
	if sum.Sign() == 0 {
		negativeProduct := math.Signbit(x) != math.Signbit(y)
		switch {
		case product.Sign() == 0 && negativeProduct == math.Signbit(z):
			return special(math.Copysign(0, z)) // both zeros have one sign
		case mode == downward:
			return special(math.Copysign(0, -1))
		}
		return special(0)
	}
	return exactValue{number: sum}
}

// sticky makes an inexact number differ from every number with fewer digits.
func sticky(q *big.Float) exactValue {
	if q.Acc() == big.Exact {
		return exactValue{number: q}
	}
	// The digits were truncated, so the exact value is slightly greater.
	little := new(big.Float).SetMantExp(big.NewFloat(1), q.MantExp(nil)-300)
	if q.Sign() < 0 {
		little.Neg(little)
	}
	return exactValue{number: new(big.Float).SetPrec(exactDigits).Add(q, little)}
}

func exactQuotient(x, y float64) exactValue {
	if !ordinary(x) || !ordinary(y) || x == 0 || y == 0 {
		return special(x / y)
	}
	return sticky(new(big.Float).SetPrec(200).SetMode(big.ToZero).Quo(exactBig(x), exactBig(y)))
}

func exactRoot(x float64) exactValue {
	if !ordinary(x) || x <= 0 {
		return special(math.Sqrt(x))
	}
	root := new(big.Float).SetPrec(200).SetMode(big.ToZero).Sqrt(big.NewFloat(x))
	square := new(big.Float).SetPrec(exactDigits).Mul(root, root)
	switch square.Cmp(big.NewFloat(x)) {
	case 0:
		return exactValue{number: root}
	case 1: // one digit too many in the last place
		root.Sub(root, new(big.Float).SetMantExp(big.NewFloat(1), root.MantExp(nil)-200))
	}
	little := new(big.Float).SetMantExp(big.NewFloat(1), root.MantExp(nil)-300)
	return exactValue{number: new(big.Float).SetPrec(exactDigits).Add(root, little)}
}

// format is a binary floating-point format.
type format struct {
	digits, lowest int // lowest is the exponent of the least subnormal
	largest        float64
}

func formatOf(width int) format {
	switch width {
	case 16:
		return format{11, -24, 65504}
	case 32:
		return format{24, -149, math.MaxFloat32}
	}
	return format{53, -1074, math.MaxFloat64}
}

// round rounds the value to a format of 16, 32 or 64 bits and returns it as a float64.
func (e exactValue) round(width int, mode rounding) float64 {
	if e.isSpecial {
		return e.special
	}
	if e.number.Sign() == 0 {
		f, _ := e.number.Float64()
		return f
	}
	f := formatOf(width)
	negative := e.number.Sign() < 0
	magnitude := new(big.Float).SetPrec(exactDigits + 300).Abs(e.number)
	// The unit in the last place, and the value as a multiple of it.
	unit := max(magnitude.MantExp(nil)-f.digits, f.lowest)
	scaled := new(big.Float).SetMantExp(magnitude, -unit)
	whole, _ := scaled.Int(nil)
	rest := new(big.Float).SetPrec(exactDigits+300).Sub(scaled, new(big.Float).SetPrec(exactDigits+300).SetInt(whole))
	up := false
	switch mode {
	case nearest:
		half := rest.Cmp(big.NewFloat(0.5))
		up = half > 0 || half == 0 && whole.Bit(0) == 1
	case downward:
		up = negative && rest.Sign() > 0
	case upward:
		up = !negative && rest.Sign() > 0
	}
	if up {
		whole.Add(whole, big.NewInt(1))
	}
	result := math.Ldexp(float64(whole.Uint64()), unit)
	if result > f.largest {
		result = math.Inf(1)
		if mode == towardZero || mode == downward && !negative || mode == upward && negative {
			result = f.largest
		}
	}
	if negative {
		result = -result
	}
	return result
}
