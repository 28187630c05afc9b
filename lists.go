package gpuframe

import (
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/kernels/vector"
)

// ExplodeOptions configure [Query.ExplodeWith].
type ExplodeOptions struct {
	// DropEmpty leaves out rows with a null or an empty list.
	DropEmpty bool
	// Position, if it is not empty, is the name of a further column: the position of the
	// element in its list, from 0. It is null if the list is null or empty.
	Position string
}

// Explode makes a row of each element of the lists in some columns. The columns get the
// elements, the others repeat their values. A null or an empty list becomes one row with a
// null. In several columns, the lists of a row have the same number of elements.
func (q Query) Explode(columns ...string) Query {
	return q.then(bind.Explode("Explode", columns, nested.ExplodeOptions{}))
}

// ExplodeWith is [Query.Explode] with options.
func (q Query) ExplodeWith(options ExplodeOptions, columns ...string) Query {
	return q.then(bind.Explode("ExplodeWith", columns, nested.ExplodeOptions{DropEmpty: options.DropEmpty, Position: options.Position}))
}

// Element is the element of a list in the expressions of [Expr.ListEval] and [Expr.ListFilter]:
//
//	gpuframe.Col("prices").ListEval(gpuframe.Element().Mul(gpuframe.Col("rate")))
//
// Within a list of lists it is the element of the innermost one.
func Element() Expr { return Expr{tree: expr.Col(nested.DefaultVariables.Element), root: "element"} }

// ElementIndex is the number of the element in its list, from 0.
func ElementIndex() Expr {
	return Expr{tree: expr.Col(nested.DefaultVariables.Index), root: "element_index"}
}

// ElementNames are names of columns that stand for the element of a list and for its number, for
// expressions that read elements of several lists within each other. They hide other columns of these
// names.
type ElementNames struct{ Element, Index string }

// ListEvalWith is [Expr.ListEval] with other names than Element and ElementIndex.
func (e Expr) ListEvalWith(names ElementNames, values Expression) Expr {
	return binary(e, values, func(list, values expr.Expr) expr.Expr { return nested.Eval(list, values, nested.Variables(names)) })
}

// ListFilterWith is [Expr.ListFilter] with other names than Element and ElementIndex.
func (e Expr) ListFilterWith(names ElementNames, condition Expression) Expr {
	return binary(e, condition, func(list, condition expr.Expr) expr.Expr {
		return nested.Filter(list, condition, nested.Variables(names))
	})
}

// splitFields is [Expr.SplitFields].
func (e Expr) splitFields(separator string, names []string) Expr {
	fields := make([]Expr, len(names))
	for i, name := range names {
		fields[i] = e.SplitPart(separator, i+1).As(name)
	}
	split := structOf(fields)
	split.root = e.Name()
	return split
}

// field is [Expr.Field].
func (e Expr) field(name string) Expr {
	field := unary(e, func(value expr.Expr) expr.Expr { return nested.Field(value, name) })
	field.root = name
	return field
}

// structOf is [Struct].
func structOf(fields []Expr) Expr { return named(nested.Struct, fields) }

// zipOf is [ListZip].
func zipOf(lists []Expr) Expr { return named(nested.Zip, lists) }

// vectorOf is [Vector].
func vectorOf(numbers []float64) Expr { return Expr{tree: vector.Literal(numbers), root: "vector"} }

// named is a function of expressions and their names.
func named(f func(fields ...expr.Expr) expr.Expr, fields []Expr) Expr {
	return apply(func(values []expr.Expr) expr.Expr {
		for i := range values {
			values[i] = fields[i].named()
		}
		return f(values...)
	}, fields...)
}
