package codegen

import (
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

var comparisons = map[exprtree.Op]string{
	exprtree.Equal: "eq", exprtree.NotEqual: "ne", exprtree.Less: "lt",
	exprtree.LessEqual: "le", exprtree.Greater: "gt", exprtree.GreaterEqual: "ge",
}

// compare writes a comparison.
func (l *lane) compare(n *exprtree.Node) Value {
	k := kindOf(n.Arguments[0].Type)
	if k.family == text {
		return l.textCompare(n)
	}
	x, y := l.value(n.Arguments[0]), l.value(n.Arguments[1])
	valid := l.and(x.Valid, y.Valid)
	name := comparisons[n.Op]
	switch k.family {
	case boolean:
		return single(l.compareBools(n.Op, x.Registers[0], y.Registers[0]), valid)
	case decimal:
		return single(l.decimalCompare(n.Op, x.Registers, y.Registers), valid)
	case float:
		return single(l.compareFloats(n.Op, k, x.Registers[0], y.Registers[0]), valid)
	case unknown:
		return l.fail(n)
	}
	return single(l.predicate("setp."+name+"."+k.arithmetic(), x.Registers[0], y.Registers[0]), valid)
}

// compareFloats orders NaN, which equals itself, behind all numbers. The instructions without a u
// are false if one operand is NaN, those with it are true.
func (l *lane) compareFloats(op exprtree.Op, k kind, x, y ptx.Register) ptx.Register {
	compared := func(name string, x, y ptx.Register) ptx.Register {
		return l.predicate("setp."+name+"."+k.arithmetic(), x, y)
	}
	switch op {
	case exprtree.Greater:
		return l.compareFloats(exprtree.Less, k, y, x)
	case exprtree.GreaterEqual:
		return l.compareFloats(exprtree.LessEqual, k, y, x)
	case exprtree.Less:
		return combine(l.b, "and", compared("ltu", x, y), compared("num", x, x))
	case exprtree.LessEqual:
		return l.or(compared("le", x, y), compared("nan", y, y))
	case exprtree.NotEqual:
		return l.not(l.compareFloats(exprtree.Equal, k, x, y))
	}
	return combine(l.b, "and", compared("equ", x, y), l.not(combine(l.b, "xor", compared("nan", x, x), compared("nan", y, y))))
}

// compareBools orders false before true.
func (l *lane) compareBools(op exprtree.Op, x, y ptx.Register) ptx.Register {
	switch op {
	case exprtree.NotEqual:
		return combine(l.b, "xor", x, y)
	case exprtree.Equal:
		return l.not(combine(l.b, "xor", x, y))
	case exprtree.Less:
		return combine(l.b, "and", y, l.not(x))
	case exprtree.Greater:
		return combine(l.b, "and", x, l.not(y))
	case exprtree.LessEqual:
		return l.or(y, l.not(x))
	}
	return l.or(x, l.not(y))
}

// extreme writes the minimum or maximum of several values. It skips nulls, and skips
// NaN if there is a number, as the instructions do.
func (l *lane) extreme(n *exprtree.Node) Value {
	k := kindOf(n.Type)
	if k.family != integer && k.family != float && k.family != decimal {
		return l.fail(n)
	}
	best := l.value(n.Arguments[0])
	for _, argument := range n.Arguments[1:] {
		next := l.value(argument)
		if l.err != nil {
			return Value{}
		}
		result := Value{Class: k.class(), kind: k}
		if k.family == decimal {
			less := l.decimalCompare(exprtree.Less, next.Registers, best.Registers)
			if n.Op == exprtree.Maximum {
				less = l.decimalCompare(exprtree.Greater, next.Registers, best.Registers)
			}
			result.Registers = l.choose(less, next, best)
		} else {
			name := map[bool]string{true: "min.", false: "max."}[n.Op == exprtree.Minimum]
			result.Registers = []ptx.Register{l.op(k, name+k.arithmetic(), best.Registers[0], next.Registers[0])}
		}
		if next.Valid != "" {
			result.Registers = l.choose(next.Valid, result, best)
		}
		if best.Valid != "" {
			result.Registers = l.choose(best.Valid, result, next)
		}
		if next.Valid != "" && best.Valid != "" {
			result.Valid = l.or(next.Valid, best.Valid)
		}
		best = result
	}
	return best
}
