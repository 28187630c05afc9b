package bind

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// dividedFunction is a function of rows. Its values read the columns of other functions.
type dividedFunction struct {
	RowsFunction
	tree expr.Expr
	// inner are the functions that the values are of.
	inner []*dividedFunction
	// depth is the greatest number of functions that the function is in.
	depth int
}

// ofAggregate reports whether a value is of an aggregate without a window.
func (f *dividedFunction) ofAggregate() bool {
	return slices.ContainsFunc(f.inner, func(inner *dividedFunction) bool { return !inner.isWindow() })
}

// division divides expressions into functions of rows and expressions on the columns of these.
type division struct {
	// columns replaces functions by their columns.
	columns *expr.Substitution
	// functions are the functions, each behind those that it is of, byName by the names of their
	// columns. Equal functions are one.
	functions []*dividedFunction
	byName    map[string]*dividedFunction
}

// divide returns the functions of rows of expressions, those in fewest others first, and the
// expressions on the columns of the outermost ones.
func divide(list []Expr) (functions []*dividedFunction, values []expr.Expr) {
	d := &division{byName: map[string]*dividedFunction{}}
	d.columns = expr.NewSubstitution(func(part expr.Expr) (expr.Expr, bool) {
		f, ok := rowsFunctionOf(part)
		if !ok {
			return part, !part.ReadsRows()
		}
		return expr.Col(d.column(part, f)), true
	})
	for _, e := range list {
		values = append(values, d.columns.Apply(e.Tree))
	}
	for _, f := range slices.Backward(d.functions) {
		for _, inner := range f.inner {
			inner.depth = max(inner.depth, f.depth+1)
		}
	}
	slices.SortFunc(d.functions, func(f, g *dividedFunction) int {
		return cmp.Or(cmp.Compare(f.depth, g.depth), cmp.Compare(f.Aggregation.Name, g.Aggregation.Name))
	})
	return d.functions, values
}

// column returns the name of the column of a function.
func (d *division) column(tree expr.Expr, f RowsFunction) string {
	for i, v := range f.Aggregation.Values {
		f.Aggregation.Values[i] = d.columns.Apply(v)
	}
	f.Aggregation.Where = d.columns.Apply(f.Aggregation.Where)
	name, known := d.nameOf(tree)
	if known {
		return name
	}
	f.Aggregation.Name = name
	added := &dividedFunction{RowsFunction: f, tree: tree}
	for _, column := range columnsOf([]plan.Aggregation{f.Aggregation}, nil) {
		if inner, ok := d.byName[column]; ok {
			added.inner = append(added.inner, inner)
		}
	}
	d.byName[name], d.functions = added, append(d.functions, added)
	return name
}

// nameOf returns the name of the column of a function, and whether it is known. Different functions
// may have the same text: qty / 2 is that of a division by an integer and by a float.
func (d *division) nameOf(tree expr.Expr) (name string, known bool) {
	name = plan.Computed(tree.Name())
	for n := 2; ; n++ {
		other, taken := d.byName[name]
		if !taken || other.tree.Fingerprint() == tree.Fingerprint() && other.tree.Same(tree) {
			return name, taken
		}
		name = plan.Computed(fmt.Sprintf("%s (%d)", tree.Name(), n))
	}
}
