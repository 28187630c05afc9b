package codegen

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// arithmetic writes + − × ÷ and the remainder.
func (l *lane) arithmetic(n *exprtree.Node) Value {
	x, y := l.value(n.Arguments[0]), l.value(n.Arguments[1])
	k := kindOf(n.Type)
	valid := l.and(x.Valid, y.Valid)
	if l.err != nil || k.family == unknown {
		return l.fail(n)
	}
	a, b := x.Registers[0], y.Registers[0]
	switch {
	case k.family == decimal:
		return l.decimalArithmetic(n, x, y)
	case k.family == float && n.Op == exprtree.Remainder:
		return single(l.inDouble(k, "gpuframe_fmod", a, b), valid)
	case k.family == float:
		// With explicit rounding, ptxas does not contract a product and a sum.
		name := map[exprtree.Op]string{exprtree.Add: "add.rn.", exprtree.Subtract: "sub.rn.", exprtree.Multiply: "mul.rn.", exprtree.Divide: "div.rn."}[n.Op]
		return single(l.op(k, name+k.arithmetic(), a, b), valid)
	case k.family != integer:
		return l.fail(n)
	}
	if n.IsTimeArithmetic() {
		valid = l.and(valid, l.fitsTime(n.Op, a, b))
	}
	switch n.Op {
	case exprtree.Add, exprtree.Subtract, exprtree.Multiply:
		name := map[exprtree.Op]string{exprtree.Add: "add.", exprtree.Subtract: "sub.", exprtree.Multiply: "mul.lo."}[n.Op]
		return single(l.wrap(k, l.op(k, name+k.arithmetic(), a, b)), valid)
	}
	quotient, defined := l.divide(k, n.Op, a, b)
	if !n.AlwaysDefined() {
		valid = l.and(valid, defined)
	}
	return single(quotient, valid)
}

// fitsTime returns the predicate that the result of time arithmetic fits 64 bits. The operand b
// of an operation of one operand is ignored.
func (l *lane) fitsTime(op exprtree.Op, a, b ptx.Register) ptx.Register {
	lowest := hexadecimal(1 << 63)
	switch op {
	case exprtree.Add, exprtree.Subtract:
		// A sum overflows if both operands have the other sign, a difference if the operands
		// have different signs and the result that of the second one.
		result, other := l.wide("add.s64", a, b), l.wide("xor.b64", a, l.wide("not.b64", b))
		if op == exprtree.Subtract {
			result, other = l.wide("sub.s64", a, b), l.wide("xor.b64", a, b)
		}
		return l.predicate("setp.ge.s64", l.wide("and.b64", other, l.wide("xor.b64", a, result)), "0")
	case exprtree.Multiply:
		sign := l.wide("shr.s64", l.wide("mul.lo.s64", a, b), "63")
		return l.predicate("setp.eq.s64", l.wide("mul.hi.s64", a, b), sign)
	case exprtree.Divide:
		return l.or(l.predicate("setp.ne.s64", a, lowest), l.predicate("setp.ne.s64", b, "-1"))
	}
	return l.predicate("setp.ne.s64", a, lowest)
}

// wrap wraps a result computed in 32 bits to a narrower integer.
func (l *lane) wrap(k kind, r ptx.Register) ptx.Register {
	if k.family != integer || k.bits >= 32 {
		return r
	}
	return l.b.Op(ptx.Word32, fmt.Sprintf("cvt.%s.%s", k.arithmetic(), k.memory()), r)
}

// divide writes a division or remainder of integers, and the predicate that the result
// is defined. PTX does not define division by zero and of the lowest integer by −1, so
// both divisors are replaced.
func (l *lane) divide(k kind, op exprtree.Op, a, b ptx.Register) (result, defined ptx.Register) {
	t, untyped := k.arithmetic(), k.class().Untyped()
	defined = l.predicate("setp.ne."+t, b, "0")
	divisor := l.op(k, "selp."+untyped, b, "1", defined)
	minusOne := ptx.Register("")
	if k.signed {
		minusOne = l.predicate("setp.eq."+t, b, "-1")
		divisor = l.op(k, "selp."+untyped, "1", divisor, minusOne)
	}
	if op == exprtree.Remainder {
		return l.op(k, "rem."+t, a, divisor), defined // by 1 it is 0, as by −1
	}
	result = l.op(k, "div."+t, a, divisor)
	if k.signed {
		negated := l.op(k, "sub."+t, "0", result)
		result = l.wrap(k, l.op(k, "selp."+untyped, negated, result, minusOne))
	}
	return result, defined
}

// sign writes negation, the absolute value and the sign.
func (l *lane) sign(n *exprtree.Node) Value {
	x := l.value(n.Arguments[0])
	k := kindOf(n.Arguments[0].Type)
	a := x.Registers[0]
	t, untyped := k.arithmetic(), k.class().Untyped()
	switch {
	case k.family == decimal:
		return l.decimalSign(n, x)
	case k.family == float:
		switch n.Op {
		case exprtree.Negate:
			return single(l.op(k, "neg."+t, a), x.Valid)
		case exprtree.Abs:
			return single(l.op(k, "abs."+t, a), x.Valid)
		}
		// The sign of a zero or NaN is the operand.
		zero := k.class().Zero()
		above := l.predicate("setp.gt."+t, a, zero)
		below := l.predicate("setp.lt."+t, a, zero)
		result := l.op(k, "selp."+untyped, k.float(1), a, above)
		return single(l.op(k, "selp."+untyped, k.float(-1), result, below), x.Valid)
	case k.family != integer:
		return l.fail(n)
	}
	valid := x.Valid
	if n.IsTimeArithmetic() {
		valid = l.and(valid, l.fitsTime(n.Op, a, ""))
	}
	switch n.Op {
	case exprtree.Negate:
		return single(l.wrap(k, l.op(k, "sub."+t, "0", a)), valid)
	case exprtree.Abs:
		if !k.signed {
			return single(a, valid)
		}
		negated := l.op(k, "sub."+t, "0", a)
		return single(l.wrap(k, l.op(k, "max."+t, a, negated)), valid)
	}
	result := l.op(k, "selp."+untyped, "1", "0", l.predicate("setp.ne."+t, a, "0"))
	if k.signed {
		result = l.op(k, "selp."+untyped, "-1", result, l.predicate("setp.lt."+t, a, "0"))
	}
	return single(result, x.Valid)
}

// bitwise writes the operations on bits. Their results are sign- or zero-extended if
// the operands are, except for the complement of unsigned integers and left shifts.
func (l *lane) bitwise(n *exprtree.Node) Value {
	k := kindOf(n.Type)
	x := l.value(n.Arguments[0])
	if k.family != integer || l.err != nil {
		return l.fail(n)
	}
	a, untyped := x.Registers[0], k.class().Untyped()
	if n.Op == exprtree.BitNot {
		return single(l.wrap(k, l.op(k, "not."+untyped, a)), x.Valid)
	}
	y := l.value(n.Arguments[1])
	b, valid := y.Registers[0], l.and(x.Valid, y.Valid)
	switch n.Op {
	case exprtree.BitAnd:
		return single(l.op(k, "and."+untyped, a, b), valid)
	case exprtree.BitOr:
		return single(l.op(k, "or."+untyped, a, b), valid)
	case exprtree.BitXor:
		return single(l.op(k, "xor."+untyped, a, b), valid)
	}
	if !n.AlwaysDefined() {
		width := ptx.Register(fmt.Sprint(k.bits))
		// As an unsigned number, a negative one is too large.
		valid = l.and(valid, l.predicate(fmt.Sprintf("setp.lt.u%d", max(32, k.bits)), b, width))
	}
	if k.class() == ptx.Word64 {
		b = l.b.Op(ptx.Word32, "cvt.u32.u64", b)
	}
	if n.Op == exprtree.ShiftLeft {
		return single(l.wrap(k, l.op(k, "shl."+untyped, a, b)), valid)
	}
	return single(l.op(k, "shr."+k.arithmetic(), a, b), valid)
}
