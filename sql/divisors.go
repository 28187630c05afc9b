package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// integerFunctions are the functions of integers alone. They compute in 64 bits, as DuckDB does; a result that these do
// not hold is null.
func integerFunctions() map[string]function {
	divisor, multiple := ofIntegers(2, (*translation).divisor), ofIntegers(2, (*translation).multiple)
	return map[string]function{
		"gcd": divisor, "greatest_common_divisor": divisor,
		"lcm": multiple, "least_common_multiple": multiple,
		"factorial": ofIntegers(1, func(t *translation, at *tree.Call, list []value) value {
			return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].Factorial() }, list...)
		}),
	}
}

// ofIntegers is a function of n integers, which it gets as BIGINT.
func ofIntegers(n int, f func(t *translation, at *tree.Call, list []value) value) function {
	return function{n, n, func(t *translation, at *tree.Call, list []value) value {
		for i, v := range list {
			if v.interval != nil || !isInteger(v.dataType) {
				t.fail(at.Args[i].Expr, "argument %d of %s is %s, expected an integer", i+1, text(at.Name), typeOf(v))
			}
			if v.dataType.ID() == arrow.UINT64 {
				v = t.cast(at, v, int64Type)
			}
			list[i] = t.widened(at, v)
		}
		return f(t, at, list)
	}}
}

// divisor is the greatest number that divides two integers. It is null for 2⁶³, which a BIGINT does not hold.
func (t *translation) divisor(at *tree.Call, list []value) value {
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return positive(e[0].Gcd(e[1])) }, list...)
}

// multiple is the least positive multiple of two integers, or null if a BIGINT does not hold it.
func (t *translation) multiple(at *tree.Call, list []value) value {
	quotient := t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		return gpuframe.If(e[1].Eq(0), e[0], e[0].Div(e[1]))
	}, list[0], t.divisor(at, list))
	quotient.bits = bitsOf(list[0])
	product := t.checked(at, "*", quotient, list[1])
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return positive(e[0].Abs()) }, product)
}

// positive is an integer, or null for one below 0: a magnitude that has wrapped around.
func positive(e gpuframe.Expr) gpuframe.Expr {
	return gpuframe.If(e.Lt(0), gpuframe.LitOf(int64Type, nil), e)
}
