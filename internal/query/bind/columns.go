package bind

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// filter keeps the rows in which a condition is true.
func (b *binder) filter(input plan.Node, condition Expr) plan.Node {
	n, values, ok := b.lower(input, condition)
	if !ok {
		return input
	}
	filtered, err := plan.NewFilter(n, values[0])
	if err != nil {
		b.reportUnless(plan.ReadableError(err), values[0].Columns())
		return input
	}
	return b.without(filtered, n, input)
}

// require checks that a condition is true of all rows.
func (b *binder) require(input plan.Node, condition Expr, failure error) plan.Node {
	if failure == nil {
		b.report(fmt.Errorf("the failure is nil: pass the error that a run ends with: %w", device.ErrInvalidValue))
		return input
	}
	n, values, ok := b.lower(input, condition)
	if !ok {
		return input
	}
	required, err := plan.NewRequire(n, values[0], failure)
	if err != nil {
		b.reportUnless(plan.ReadableError(err), values[0].Columns())
		return input
	}
	return b.without(required, n, input)
}

// dropNulls keeps the rows in which no column is null.
func (b *binder) dropNulls(input plan.Node, columns []string) plan.Node {
	var condition expr.Expr
	for _, name := range columns {
		valid := expr.Col(name).IsValid()
		if b.check(valid, input.Schema()) {
			condition = both(condition, valid)
		}
	}
	if condition.IsZero() {
		return input
	}
	n, err := plan.NewFilter(input, condition)
	return b.checked(n, err, input)
}

// without removes computed columns again, if the node below has more than the input had.
func (b *binder) without(above, below, input plan.Node) plan.Node {
	if below == input {
		return above
	}
	kept, err := plan.NewColumns(above, names(input.Schema())...)
	return b.checked(kept, err, input)
}

// project makes columns of expressions. If kept is not nil its columns come first; an
// expression with the name of one takes its place.
func (b *binder) project(input plan.Node, kept *arrow.Schema, list []Expr) plan.Node {
	n, values, ok := b.lower(input, list...)
	var columns []expr.Expr
	places := map[string]int{}
	if kept != nil {
		for i, name := range names(kept) {
			columns, places[name] = append(columns, expr.Col(name)), i
		}
	}
	taken := map[string]bool{}
	for i, e := range list {
		name := e.Name
		if taken[name] && len(e.Misuse) == 0 {
			b.report(fmt.Errorf("two expressions are named %q: give one of them another name with As: %w", name, buffer.ErrSchema))
			ok = false
			continue
		}
		taken[name] = true
		if values == nil || len(e.Misuse) > 0 || !b.check(values[i], n.Schema()) {
			b.missing[name], ok = true, false
			continue
		}
		column := plan.Named(values[i], name)
		if at, exists := places[name]; exists {
			columns[at] = column
		} else {
			columns = append(columns, column)
		}
	}
	if !ok && kept != nil {
		return input
	}
	projected, err := plan.NewProject(n, columns...)
	return b.checked(projected, err, input)
}

// drop leaves out columns.
func (b *binder) drop(input plan.Node, columns []string) plan.Node {
	kept := names(input.Schema())
	for _, name := range columns {
		if !b.check(expr.Col(name), input.Schema()) {
			continue
		}
		kept = slices.DeleteFunc(kept, func(k string) bool { return k == name })
	}
	narrowed, err := plan.NewColumns(input, kept...)
	return b.checked(narrowed, err, input)
}

// rename gives a column another name.
func (b *binder) rename(input plan.Node, from, to string) plan.Node {
	if !b.check(expr.Col(from), input.Schema()) {
		b.missing[to] = true
		return input
	}
	list := make([]expr.Expr, 0, input.Schema().NumFields())
	for _, name := range names(input.Schema()) {
		if name == from {
			list = append(list, expr.Col(from).As(to))
		} else {
			list = append(list, expr.Col(name))
		}
	}
	renamed, err := plan.NewProject(input, list...)
	return b.checked(renamed, err, input, to)
}

// sort orders the rows.
func (b *binder) sort(input plan.Node, keys []Order, limit int64) plan.Node {
	list := make([]Expr, len(keys))
	orders := make([]plan.SortKey, len(keys))
	for i, k := range keys {
		list[i], orders[i] = k.Key, plan.SortKey{Descending: k.Descending, NullsFirst: k.NullsFirst}
	}
	n, values, ok := b.lower(input, list...)
	if !ok {
		return input
	}
	var columns []string
	for i, v := range values {
		ok = b.check(v, n.Schema()) && ok
		orders[i].Value = v
		columns = append(columns, v.Columns()...)
	}
	if !ok {
		return input
	}
	sorted, err := plan.NewSort(n, orders, limit)
	if err != nil {
		b.reportUnless(plan.ReadableError(err), columns)
		return input
	}
	return b.without(sorted, n, input)
}

// slice keeps some rows.
func (b *binder) slice(input plan.Node, offset, length int64) plan.Node {
	if !b.isCount(length) {
		return input
	}
	n, err := plan.NewSlice(input, offset, length)
	return b.checked(n, err, input)
}

// isCount reports a negative number of rows.
func (b *binder) isCount(n int64) bool {
	if n < 0 {
		b.report(fmt.Errorf("the number of rows is %d, expected zero or more: %w", n, device.ErrInvalidValue))
	}
	return n >= 0
}

// both joins a condition, which may be the zero Expr, and another one.
func both(condition, other expr.Expr) expr.Expr {
	if condition.IsZero() {
		return other
	}
	return condition.And(other)
}
