package bind

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// calls computes the functions of the user in expressions as columns, inner ones first, and returns a node with these
// and the expressions on them. Equal calls are one. ok is false after a problem.
func (b *binder) calls(input plan.Node, list []Expr) (n plan.Node, called []Expr, ok bool) {
	if !slices.ContainsFunc(list, hasCall) {
		return input, list, true
	}
	c := caller{binder: b, node: input}
	c.columns = expr.NewSubstitution(c.replacement)
	called = slices.Clone(list)
	for i := range called {
		called[i].Tree = c.columns.Apply(called[i].Tree)
	}
	return c.node, called, !c.failed
}

// hasCall reports whether a function of the user is in an expression.
func hasCall(e Expr) (has bool) {
	e.Tree.Walk(func(part expr.Expr) bool {
		_, ok := plan.CallOf(part)
		has = has || ok
		return !has
	})
	return has
}

// caller makes nodes of calls.
type caller struct {
	*binder
	node    plan.Node
	columns *expr.Substitution
	// known are the calls that have a column, by its number.
	known  []expr.Expr
	failed bool
}

// replacement returns the column of a call.
func (c *caller) replacement(part expr.Expr) (expr.Expr, bool) {
	f, ok := plan.CallOf(part)
	if !ok || c.failed {
		return part, c.failed
	}
	o, _ := part.Operator()
	operands := part.Operands()
	for i, operand := range operands {
		if operand.ReadsRows() {
			c.report(fmt.Errorf("an argument of function %s has an aggregate or a window: compute it with With first", f.Name()))
			c.failed = true
			return part, true
		}
		operands[i] = c.columns.Apply(operand)
	}
	if c.failed {
		return part, true
	}
	call := expr.Apply(o, operands...)
	number := slices.IndexFunc(c.known, call.Same)
	if number < 0 {
		number = len(c.known)
		c.known = append(c.known, call)
		wider, err := plan.NewCall(c.node, c.columnName(number, f.Name()), call)
		if err != nil {
			c.reportUnless(plan.ReadableError(err), call.Columns())
			c.failed = true
			return part, true
		}
		c.node = wider
	}
	return expr.Col(c.columnName(number, f.Name())), true
}

// columnName is the name of the column of a call.
func (c *caller) columnName(number int, function string) string {
	return plan.Computed(fmt.Sprintf("call %d of %s", number+1, function))
}
