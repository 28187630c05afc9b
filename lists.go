package gpuframe

import (
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
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
func structOf(fields []Expr) Expr {
	return apply(func(values []expr.Expr) expr.Expr {
		for i := range values {
			values[i] = fields[i].named()
		}
		return nested.Struct(values...)
	}, fields...)
}
