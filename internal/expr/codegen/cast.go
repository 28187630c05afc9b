package codegen

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// cast writes a conversion.
func (l *lane) cast(n *exprtree.Node) Value {
	x := l.value(n.Arguments[0])
	from, to := kindOf(n.Arguments[0].Type), kindOf(n.Type)
	if l.err != nil {
		return Value{}
	}
	a, checked := x.Registers[0], n.Op == exprtree.Cast
	if exprtree.IsTemporal(n.Arguments[0].Type) && exprtree.IsTemporal(n.Type) {
		return l.castTemporal(n, x)
	}
	switch {
	case from.family == decimal || to.family == decimal:
		return l.castDecimal(n, x)
	case from.family == boolean && to.family == boolean:
		return single(a, x.Valid)
	case from.family == boolean && to.family == float:
		return single(l.op(to, "selp."+to.class().Untyped(), to.float(1), to.float(0), a), x.Valid)
	case from.family == boolean && to.family == integer:
		return single(l.op(to, "selp."+to.class().Untyped(), "1", "0", a), x.Valid)
	case from.family == float && to.family == boolean:
		return single(l.predicate("setp.neu."+from.arithmetic(), a, from.float(0)), x.Valid)
	case from.family == integer && to.family == boolean:
		return single(l.predicate("setp.ne."+from.arithmetic(), a, "0"), x.Valid)
	case from.family == integer && to.family == integer:
		valid := x.Valid
		if checked {
			valid = l.and(valid, l.inRange(from, to, a))
		}
		return single(l.convert(from, to, a), valid)
	case from.family == integer && to.family == float:
		return single(l.op(to, fmt.Sprintf("cvt.rn.%s.%s", to.arithmetic(), from.arithmetic()), a), x.Valid)
	case from.family == float && to.family == float:
		return single(l.convertFloat(from, to, a), x.Valid)
	case from.family == float && to.family == integer && checked:
		result, valid := l.truncated(from, to, a)
		return single(result, l.and(x.Valid, valid))
	case from.family == float && to.family == integer:
		return single(l.saturated(from, to, a), x.Valid)
	}
	return l.fail(n)
}

// convert changes the width of an integer. It drops high bits that do not fit.
func (l *lane) convert(from, to kind, a ptx.Register) ptx.Register {
	switch {
	case from.class() == to.class() && (to.bits >= 32 || to.holds(from)):
		return a
	case from.class() == to.class():
		return l.wrap(to, a)
	case to.class() == ptx.Word64:
		return l.op(to, fmt.Sprintf("cvt.%s.%s", widened(from), from.arithmetic()), a)
	}
	return l.wrap(to, l.op(to, "cvt.u32.u64", a))
}

// inRange returns the predicate that an integer fits another kind, or "" if all
// integers do.
func (l *lane) inRange(from, to kind, a ptx.Register) (fits ptx.Register) {
	if from.lowest() < to.lowest() {
		fits = l.predicate("setp.ge."+from.arithmetic(), a, ptx.Register(fmt.Sprint(to.lowest())))
	}
	if from.highest() > to.highest() {
		below := l.predicate("setp.le."+from.arithmetic(), a, ptx.Register(fmt.Sprint(to.highest())))
		fits = l.and(fits, below)
	}
	return fits
}

func (l *lane) convertFloat(from, to kind, a ptx.Register) ptx.Register {
	switch {
	case from.class() == to.class():
		return a
	case to.class() == ptx.Float64:
		return l.op(to, "cvt.f64.f32", a)
	}
	return l.op(to, "cvt.rn.f32.f64", a)
}

// bounds returns the lowest integer of a kind and the highest plus one, as operands of
// a kind of float. Both are powers of two or zero, so they are exact.
func (k kind) bounds(target kind) (lowest, beyond ptx.Register) {
	return k.float(float64(target.lowest())), k.float(math.Ldexp(1, map[bool]int{true: target.bits - 1, false: target.bits}[target.signed]))
}

// truncated converts a float to an integer and returns the predicate that it fits.
func (l *lane) truncated(from, to kind, a ptx.Register) (result, fits ptx.Register) {
	t := from.arithmetic()
	whole := l.op(from, fmt.Sprintf("cvt.rzi.%s.%s", t, t), a)
	lowest, beyond := from.bounds(to)
	fits = l.and(l.predicate("setp.ge."+t, whole, lowest), l.predicate("setp.lt."+t, whole, beyond))
	return l.op(to, fmt.Sprintf("cvt.rzi.%s.%s", to.arithmetic(), t), whole), fits
}

// saturated converts a float to the nearest integer in range, and NaN to 0.
func (l *lane) saturated(from, to kind, a ptx.Register) ptx.Register {
	t, untyped := from.arithmetic(), to.class().Untyped()
	lowest, beyond := from.bounds(to)
	result := l.op(to, fmt.Sprintf("cvt.rzi.%s.%s", to.arithmetic(), t), a)
	low := l.op(to, "mov."+untyped, ptx.Register(fmt.Sprint(to.lowest())))
	high := l.op(to, "mov."+untyped, ptx.Register(fmt.Sprint(to.highest())))
	result = l.op(to, "selp."+untyped, low, result, l.predicate("setp.lt."+t, a, lowest))
	result = l.op(to, "selp."+untyped, high, result, l.predicate("setp.ge."+t, a, beyond))
	return l.op(to, "selp."+untyped, "0", result, l.predicate("setp.nan."+t, a, a))
}
