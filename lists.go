package gpuframe

import (
	"github.com/gpuframe/gpuframe/internal/plan"
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
	return q.then("Explode", nil, func(b *binder, inputs []plan.Node) plan.Node {
		return b.explode(inputs[0], columns, ExplodeOptions{})
	})
}

// ExplodeWith is [Query.Explode] with options.
func (q Query) ExplodeWith(options ExplodeOptions, columns ...string) Query {
	return q.then("ExplodeWith", nil, func(b *binder, inputs []plan.Node) plan.Node {
		return b.explode(inputs[0], columns, options)
	})
}

func (b *binder) explode(input plan.Node, columns []string, options ExplodeOptions) plan.Node {
	n, err := plan.NewExplode(input, columns, nested.ExplodeOptions{DropEmpty: options.DropEmpty, Position: options.Position})
	return b.checked(n, err, input, columns...)
}

// ListLength is the number of elements of a list, nulls among them included.
func (e Expr) ListLength() Expr { return unary(e, nested.Length) }

// ListGet is an element of a list. The first one has index 0; a negative index counts from
// the end. It is null beyond the elements.
func (e Expr) ListGet(index int) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return nested.Get(value, index) })
}

// ListSlice is at most most elements of a list from element from on, which counts from the
// end if it is negative.
func (e Expr) ListSlice(from, most int) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return nested.Slice(value, from, most) })
}

// ListContains reports whether an element of a list equals a Go value, or is null for nil.
func (e Expr) ListContains(x any) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return nested.Contains(value, x) })
}

// ListSort is a list with its elements in ascending order, nulls last.
func (e Expr) ListSort() Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return nested.Sort(value, nested.SortOptions{}) })
}

// ListSortDescending is a list with its elements in descending order, nulls last.
func (e Expr) ListSortDescending() Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return nested.Sort(value, nested.SortOptions{Descending: true}) })
}

// Split is the list of the parts of a string between occurrences of a separator of one byte
// or more.
func (e Expr) Split(separator string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return nested.Split(value, separator) })
}

// SplitFields is a struct of the first parts of a string between occurrences of a separator of
// one byte or more: a field for each name. A part that the string lacks is null.
func (e Expr) SplitFields(separator string, names ...string) Expr {
	fields := make([]Expression, len(names))
	for i, name := range names {
		fields[i] = e.SplitPart(separator, i+1).As(name)
	}
	made := Struct(fields...)
	made.root = e.Name()
	return made
}

// Sequence is the list of the integers from 0 to e, e excluded: Explode of it repeats a row e
// times.
func (e Expr) Sequence() Expr { return unary(e, nested.Sequence) }

// ListCount is the number of elements of a list that are not null.
func (e Expr) ListCount() Expr { return foldList(e, nested.Count) }

// ListSum is the sum of the elements of a list. Like the other folds it skips nulls, and is
// null without values.
func (e Expr) ListSum() Expr { return foldList(e, nested.Sum) }

// ListMin is the least element of a list.
func (e Expr) ListMin() Expr { return foldList(e, nested.Min) }

// ListMax is the greatest element of a list.
func (e Expr) ListMax() Expr { return foldList(e, nested.Max) }

// ListMean is the mean of the elements of a list.
func (e Expr) ListMean() Expr { return foldList(e, nested.Mean) }

// ListAny reports whether an element of a list of bools is true.
func (e Expr) ListAny() Expr { return foldList(e, nested.Any) }

// ListAll reports whether all elements of a list of bools are true.
func (e Expr) ListAll() Expr { return foldList(e, nested.All) }

func foldList(e Expr, f nested.Function) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return nested.Fold(value, f) })
}

// Field is a field of a struct.
func (e Expr) Field(name string) Expr {
	made := unary(e, func(value expr.Expr) expr.Expr { return nested.Field(value, name) })
	made.root = name
	return made
}

// MapGet is the value of the first entry of a map with a key, a Go value. It is null without
// such an entry.
func (e Expr) MapGet(key any) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return nested.Lookup(value, key) })
}

// Struct is a struct of the values of expressions, with their names.
func Struct(fields ...Expression) Expr {
	list := unpack(fields)
	return apply(func(values []expr.Expr) expr.Expr {
		for i := range values {
			values[i] = named(values[i], list[i].Name())
		}
		return nested.Struct(values...)
	}, list...)
}
