package gpuframe

import (
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// isIn is [Expr.In].
func (e Expr) isIn(values []any) Expr {
	if len(values) == 1 {
		if _, ok := values[0].(Expression); !ok {
			return unary(e, func(value expr.Expr) expr.Expr { return value.In(values[0]) })
		}
	}
	operands := []Expr{e}
	for _, v := range values {
		operands = append(operands, operand(v))
	}
	return apply(func(list []expr.Expr) expr.Expr {
		values := make([]any, len(list)-1)
		for i := range values {
			values[i] = list[i+1]
		}
		return list[0].In(values...)
	}, operands...)
}

// choose is [If] and [CaseOf], named as the first value.
func choose(values []any) Expr {
	chosen := choice(expr.Case, values)
	if len(values) > 1 {
		chosen.root = operand(values[1]).Name()
	}
	return chosen
}

// Cases are the choices of [Case]. They are immutable.
type Cases struct {
	conditions []Expression
	values     []any
}

// Case begins a choice by several conditions, CASE of SQL:
//
//	gpuframe.Case().When(speed.Lt(0), nil).When(speed.Lt(30), "slow").Else("fast")
func Case() Cases { return Cases{} }

// When adds the value of rows in which the condition is true, and no condition before it.
func (c Cases) When(condition Expression, value any) Cases {
	return Cases{append(slices.Clip(c.conditions), condition), append(slices.Clip(c.values), value)}
}

// Else is the value of the first condition that is true, or else the given one: of rows in which
// all conditions are false or null. A nil is null.
func (c Cases) Else(value any) Expr {
	if len(c.conditions) == 0 {
		return operand(value)
	}
	list := make([]any, 0, 2*len(c.conditions)+1)
	for i, condition := range c.conditions {
		list = append(list, condition, c.values[i])
	}
	return choose(append(list, value))
}

// choice returns a function of values, which may be expressions.
func choice(f func(...expr.Expr) expr.Expr, values []any) Expr {
	return apply(func(list []expr.Expr) expr.Expr { return f(list...) }, operands(values)...)
}
