package gpuframe

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Expression is an argument of the verbs of a [Query]: an [Expr] or a [Typed] column.
type Expression interface {
	sortable
	expression() Expr
}

// Expr is an expression on the columns of a query: a column, a literal, an operation on
// other expressions, an aggregate, or a window. It is immutable and may be used from any
// goroutine and in any number of queries. It is checked when a query that it is part of is
// bound to its sources; until then nothing is an error.
//
// Methods with an operand of type any take an [Expression], or a Go value as a literal:
// Col("price").Mul(1.19). A string is a literal, not a column.
//
// The name of the result is the one that [Expr.As] gives. Without it, it is the name of
// the first column in the expression: price.Mul(qty) and price.Sum() are named "price".
type Expr struct {
	tree expr.Expr
	// root is the name without As, given the name of As.
	root, given string
	// misuse are errors of the methods that made the expression.
	misuse []error
}

func (e Expr) expression() Expr { return e }

// Name returns the name of the expression's column in a result.
func (e Expr) Name() string {
	if e.given != "" {
		return e.given
	}
	return e.root
}

// String formats the expression for messages.
func (e Expr) String() string { return plan.Readable(e.tree.String()) }

// As gives the expression a name.
func (e Expr) As(name string) Expr {
	e.given = name
	return e
}

// bound returns the expression as an argument of verbs.
func (e Expr) bound() bind.Expr { return bind.Expr{Tree: e.tree, Name: e.Name(), Misuse: e.misuse} }

// named returns the expression with its name.
func (e Expr) named() expr.Expr { return plan.Named(e.tree, e.Name()) }

// Col is the column with a name. Its type is found when the query is bound.
func Col(name string) Expr { return Expr{tree: expr.Col(name), root: name} }

// Lit is a literal, for expressions that begin with one: Lit(1).Sub(Col("discount")). It
// may be a bool, a number, a string, []byte, time.Time or time.Duration.
func Lit(value any) Expr { return Expr{tree: expr.Lit(value), root: "literal"} }

// LitOf is a literal of a type: a number, a decimal given as a string, a time, or nil for
// null.
func LitOf(t arrow.DataType, value any) Expr {
	return Expr{tree: expr.LitOf(t, value), root: "literal"}
}

// operand returns the expression of an argument, which may be a Go value.
func operand(x any) Expr {
	switch x := x.(type) {
	case Expression:
		return expressionOf(x)
	case []float64:
		return vectorOf(x)
	case []float32:
		wide := make([]float64, len(x))
		for i, v := range x {
			wide[i] = float64(v)
		}
		return vectorOf(wide)
	}
	return Lit(x)
}

// apply makes an expression of a function of expressions. The first one gives it the name.
func apply(f func(list []expr.Expr) expr.Expr, operands ...Expr) Expr {
	var applied Expr
	trees := make([]expr.Expr, len(operands))
	for i, o := range operands {
		if i == 0 {
			applied.root = o.Name()
		}
		applied.misuse = joinMisuse(applied.misuse, o.misuse)
		trees[i] = o.tree
	}
	applied.tree = f(trees)
	return applied
}

func unary(e Expr, f func(expr.Expr) expr.Expr) Expr {
	return apply(func(list []expr.Expr) expr.Expr { return f(list[0]) }, e)
}

func binary(e Expr, x any, f func(a, b expr.Expr) expr.Expr) Expr {
	return apply(func(list []expr.Expr) expr.Expr { return f(list[0], list[1]) }, e, operand(x))
}

// joinMisuse returns the errors of two operands, each once: they may share parts.
func joinMisuse(a, b []error) []error {
	for _, err := range b {
		if !slices.Contains(a, err) {
			a = append(slices.Clip(a), err)
		}
	}
	return a
}
