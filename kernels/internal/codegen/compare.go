package codegen

import (
	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

var comparisons = map[tree.Op]string{
	tree.Equal: "eq", tree.NotEqual: "ne", tree.Less: "lt",
	tree.LessEqual: "le", tree.Greater: "gt", tree.GreaterEqual: "ge",
}

// compare writes a comparison.
func (l *lane) compare(n *tree.Node) Value {
	k := kindOf(n.Arguments[0].Type)
	if k.family == text {
		return l.textCompare(n)
	}
	x, y := l.value(n.Arguments[0]), l.value(n.Arguments[1])
	valid := l.and(x.Valid, y.Valid)
	name := comparisons[n.Op]
	switch k.family {
	case boolean:
		return one(l.compareBools(n.Op, x.Registers[0], y.Registers[0]), valid)
	case decimal:
		return one(l.decimalCompare(n.Op, x.Registers, y.Registers), valid)
	case float:
		if n.Op == tree.NotEqual {
			name = "neu" // also where one is NaN
		}
	case unknown:
		return l.fail(n)
	}
	return one(l.predicate("setp."+name+"."+k.arithmetic(), x.Registers[0], y.Registers[0]), valid)
}

// compareBools has false less than true.
func (l *lane) compareBools(op tree.Op, x, y ptx.Register) ptx.Register {
	switch op {
	case tree.NotEqual:
		return combine(l.b, "xor", x, y)
	case tree.Equal:
		return l.not(combine(l.b, "xor", x, y))
	case tree.Less:
		return combine(l.b, "and", y, l.not(x))
	case tree.Greater:
		return combine(l.b, "and", x, l.not(y))
	case tree.LessEqual:
		return l.or(y, l.not(x))
	}
	return l.or(x, l.not(y))
}

// extreme writes the least or the greatest of several. Nulls are passed over, and
// NaN beside a number, as the instructions do it.
func (l *lane) extreme(n *tree.Node) Value {
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
			less := l.decimalCompare(tree.Less, next.Registers, best.Registers)
			if n.Op == tree.Maximum {
				less = l.decimalCompare(tree.Greater, next.Registers, best.Registers)
			}
			result.Registers = l.choose(less, next, best)
		} else {
			name := map[bool]string{true: "min.", false: "max."}[n.Op == tree.Minimum]
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
