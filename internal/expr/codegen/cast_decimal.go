package codegen

import (
	"math"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// mostDigits is the number of decimal digits that 128 bits can always represent.
const mostDigits = 38

// castDecimal writes conversions from and to decimals.
func (l *lane) castDecimal(n *exprtree.Node, x Value) Value {
	from, to := kindOf(n.Arguments[0].Type), kindOf(n.Type)
	_, scale := decimalOf(n.Arguments[0].Type)
	precision, target := decimalOf(n.Type)
	switch {
	case from.family == decimal && to.family == decimal:
		r, fits := l.rescale(x.Registers, target-scale, precision)
		return Value{Registers: r, Valid: l.and(x.Valid, fits)}
	case from.family == integer && to.family == decimal:
		low := l.convert(from, kind{integer, 64, from.signed}, x.Registers[0])
		high := l.wide("mov.u64", "0")
		if from.signed {
			high = l.wide("shr.s64", low, "63")
		}
		r, fits := l.rescale([]ptx.Register{low, high}, target, precision)
		return Value{Registers: r, Valid: l.and(x.Valid, fits)}
	case from.family == decimal && to.family == integer:
		r, fits := l.rescale(x.Registers, -scale, mostDigits)
		return single(l.narrow(to, r, fits, x.Valid))
	case from.family == decimal && to.family == float:
		return single(l.decimalToFloat(to, x.Registers, scale), x.Valid)
	case from.family == float && to.family == decimal:
		r, fits := l.floatToDecimal(from, x.Registers[0], target, precision)
		return Value{Registers: r, Valid: l.and(x.Valid, fits)}
	}
	return l.fail(n)
}

// rescale multiplies by 10^up, or divides by 10^−up and rounds half away from zero. fits is the
// predicate that the result fits the precision.
func (l *lane) rescale(x []ptx.Register, up, precision int) (result []ptx.Register, fits ptx.Register) {
	zero := []ptx.Register{l.wide("mov.u64", "0"), l.wide("mov.u64", "0")}
	switch {
	case up > mostDigits: // only zero fits with that many more digits
		return zero, l.predicate("setp.eq.u64", l.wide("or.b64", x[0], x[1]), "0")
	case up > 0:
		low, high := words128(powerOfTen(up))
		return l.multiplyWide(x, []ptx.Register{l.wide("mov.u64", low), l.wide("mov.u64", high)}, precision)
	case up < -mostDigits:
		return zero, ""
	}
	// In steps, because a divisor has 64 bits. All but the last truncate: the digits that they cut off do
	// not decide whether the rest is below half of the last divisor, which is even.
	for down := -up; down > 0; down -= 19 {
		power := powerOfTen(min(down, 19))
		d, _ := words128(power)
		more := ptx.Register("0")
		if down <= 19 {
			more, _ = words128(power.Rsh(power, 1))
		}
		x = l.calls(word64, "gpuframe_decimal_divide", 2, x[0], x[1], l.wide("mov.u64", d), l.wide("mov.u64", more))
	}
	return x, l.fits(x, precision)
}

// narrow converts 128 bits to an integer.
func (l *lane) narrow(to kind, x []ptx.Register, fits, valid ptx.Register) (result, ok ptx.Register) {
	from := kind{integer, 64, to.signed}
	high := ptx.Register("0")
	if to.signed {
		high = l.wide("shr.s64", x[0], "63")
	}
	ok = l.and(valid, l.and(fits, l.predicate("setp.eq.u64", x[1], high)))
	return l.convert(from, to, x[0]), l.and(ok, l.inRange(from, to, x[0]))
}

var double = kind{float, 64, true}

// decimalToFloat follows the definition in package exprtree, so that the host computes
// the same.
func (l *lane) decimalToFloat(to kind, x []ptx.Register, scale int) ptx.Register {
	below := l.predicate("setp.lt.s64", x[1], "0")
	m := l.negateWideIf(below, x)
	low := l.op(double, "cvt.rn.f64.u64", m[0])
	high := l.op(double, "cvt.rn.f64.u64", m[1])
	r := l.op(double, "fma.rn.f64", high, double.float(math.Ldexp(1, 64)), low)
	r = l.op(double, "div.rn.f64", r, double.float(math.Pow10(scale)))
	r = l.op(double, "selp.f64", l.op(double, "neg.f64", r), r, below)
	return l.convertFloat(double, to, r)
}

// floatToDecimal rounds x · 10^scale half away from zero. Splitting a whole float64 into two words is
// exact.
func (l *lane) floatToDecimal(from kind, x ptx.Register, scale, precision int) (result []ptx.Register, fits ptx.Register) {
	x = l.convertFloat(from, double, x)
	x = l.op(double, "mul.rn.f64", x, double.float(math.Pow10(scale)))
	m := l.op(double, "abs.f64", x)
	whole := l.op(double, "cvt.rzi.f64.f64", m)
	up := l.predicate("setp.ge.f64", l.op(double, "sub.rn.f64", m, whole), double.float(0.5)) // false for infinity
	m = l.op(double, "add.rn.f64", whole, l.op(double, "selp.f64", double.float(1), double.float(0), up))
	inside := l.predicate("setp.lt.f64", m, double.float(math.Ldexp(1, 127))) // false for NaN
	m = l.op(double, "selp.f64", m, double.float(0), inside)
	top := l.op(double, "cvt.rzi.f64.f64", l.op(double, "mul.rn.f64", m, double.float(math.Ldexp(1, -64))))
	low := l.op(double, "fma.rn.f64", top, double.float(-math.Ldexp(1, 64)), m)
	words := []ptx.Register{l.wide("cvt.rzi.u64.f64", low), l.wide("cvt.rzi.u64.f64", top)}
	words = l.negateWideIf(l.predicate("setp.lt.f64", x, double.float(0)), words)
	return words, l.and(inside, l.fits(words, precision))
}
