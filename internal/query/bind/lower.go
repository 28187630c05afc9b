package bind

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// areAggregates reports whether no expression has a column outside of an aggregate, and
// there is an aggregate.
func areAggregates(list []Expr) bool {
	hasAggregate, others := false, false
	for _, e := range list {
		e.Tree.Walk(func(part expr.Expr) bool {
			f, ok := rowsFunctionOf(part)
			_, isColumn := part.Column()
			hasAggregate = hasAggregate || ok
			others = others || isColumn || f.isWindow()
			return !ok
		})
	}
	return hasAggregate && !others
}

// lower computes the functions of the user in expressions, then the functions of rows as windows, and returns a node with their
// columns and the expressions on them. Aggregates without a window are of all rows. ok is false after
// a problem; then there may be no expressions.
func (b *binder) lower(input plan.Node, list ...Expr) (n plan.Node, values []expr.Expr, ok bool) {
	ok = b.proper(list)
	list = listForms(list)
	n, list, fits := b.calls(input, list)
	if !fits {
		return input, nil, false
	}
	functions, values := divide(list)
	if n, fits = b.windows(n, functions); !fits {
		return input, nil, false
	}
	return n, values, ok
}

// proper reports expressions of the step at hand that were not made properly.
func (b *binder) proper(list []Expr) bool {
	ok := true
	for _, e := range list {
		b.trees = append(b.trees, e.Tree)
		if len(e.Misuse) > 0 {
			b.report(errors.Join(e.Misuse...))
			ok = false
		}
	}
	return ok
}

// windows computes functions as windows, the inner ones first and each as late as possible. Those of a
// depth and of the same partition are computed together.
func (b *binder) windows(n plan.Node, functions []*dividedFunction) (widened plan.Node, ok bool) {
	if at := slices.IndexFunc(functions, (*dividedFunction).ofAggregate); at >= 0 {
		b.reportNested(functions[at])
		return n, false
	}
	slices.SortStableFunc(functions, func(f, g *dividedFunction) int { return g.depth - f.depth })
	var groups [][]*dividedFunction
	for _, f := range functions {
		if f.Aggregation.Function == groupingID {
			b.report(fmt.Errorf("grouping_id is of groups: use it to aggregate groups, not in windows: %w", device.ErrInvalidValue))
			return n, false
		}
		if err := checkOrder(f.RowsFunction); err != nil && !f.windowed {
			b.report(err)
			return n, false
		}
		at := slices.IndexFunc(groups, func(g []*dividedFunction) bool { return g[0].depth == f.depth && g[0].sameRows(f.RowsFunction) })
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], f)
	}
	for _, g := range groups {
		if n, ok = b.window(n, g); !ok {
			return n, false
		}
	}
	return n, true
}

// reportNested reports an aggregate of an aggregate.
func (b *binder) reportNested(f *dividedFunction) {
	aggregation, called := f.Aggregation, f.called
	aggregation.Frame = plan.Frame{}
	if f.form != nil {
		called = f.form.Function
	}
	text := aggregation.String()
	if called != "" {
		text = fmt.Sprintf("%s(%s)", called, plan.Readable(aggregation.Values[0].String()))
	}
	b.report(fmt.Errorf("%s is an aggregate of an aggregate: compute the inner one with With first, or add Over to it", text))
}

// window computes functions of the same windows.
func (b *binder) window(n plan.Node, functions []*dividedFunction) (plan.Node, bool) {
	keys := functions[0].windowKeys()
	aggregations := make([]plan.Aggregation, len(functions))
	for i, f := range functions {
		aggregations[i] = f.Aggregation
	}
	if !b.areKeys(n, keys.All()) {
		return n, false
	}
	wider, err := node(plan.NewOver(n, keys, aggregations))
	if err != nil {
		b.reportUnless(plan.ReadableError(err), columnsOf(aggregations, keys.All()))
		return n, false
	}
	return wider, true
}

// keys returns expressions without aggregates.
func (b *binder) keys(n plan.Node, list []Expr) (keys []expr.Expr, ok bool) {
	ok = b.proper(list)
	for _, e := range list {
		keys = append(keys, e.Named())
	}
	return keys, b.areKeys(n, keys) && ok
}

// areKeys reports keys with aggregates and those that do not fit the schema of a node.
func (b *binder) areKeys(n plan.Node, keys []expr.Expr) bool {
	ok := true
	for _, k := range keys {
		if k.ReadsRows() {
			b.report(fmt.Errorf("the key %s has an aggregate: compute it with With first", plan.Readable(k.String())))
			ok = false
			continue
		}
		ok = b.check(k, n.Schema()) && ok
	}
	return ok
}

// columnsOf returns the columns that aggregations and keys read.
func columnsOf(list []plan.Aggregation, keys []expr.Expr) (columns []string) {
	for _, a := range list {
		for _, v := range append(slices.Clone(a.Values), a.Where) {
			columns = append(columns, v.Columns()...)
		}
	}
	for _, k := range keys {
		columns = append(columns, k.Columns()...)
	}
	return columns
}

// aggregate groups rows by keys, or by sets of them, and makes columns of expressions on keys and aggregates.
func (b *binder) aggregate(input plan.Node, groupKeys, list []Expr, sets GroupingSets, options plan.GroupOptions) plan.Node {
	ok := b.proper(list)
	if err := sets.Check(len(groupKeys)); err != nil {
		b.report(err)
		ok = false
	}
	n, called, fits := b.calls(input, slices.Concat(groupKeys, list))
	if !fits {
		b.lost(list)
		return nil
	}
	input, groupKeys, list = n, called[:len(groupKeys)], called[len(groupKeys):]
	keys, proper := b.keys(input, groupKeys)
	ok = ok && proper
	functions, values := divide(list)
	inner := slices.DeleteFunc(slices.Clone(functions), func(f *dividedFunction) bool { return f.depth == 0 || !f.isWindow() })
	n, fits = b.windows(input, inner)
	ok = ok && fits
	outer := map[string]bool{}
	for _, name := range columnsOf(nil, values) {
		outer[name] = true
	}
	var aggregations []plan.Aggregation
	grouping := setGrouping{binder: b, input: n, keys: keys, sets: sets, options: options}
	for _, f := range functions {
		if err := checkOrder(f.RowsFunction); err != nil {
			b.report(err)
			ok = false
			continue
		}
		switch {
		case !outer[f.Aggregation.Name]:
		case f.isWindow():
			b.report(fmt.Errorf("%v is a window, which has a value for each row: aggregate it, or compute it with With first", plan.Readable(f.Aggregation.Name)))
			ok = false
		case f.ofAggregate():
			b.reportNested(f)
			ok = false
		case f.Aggregation.Function == groupingID:
			ok = grouping.addID(f) && ok
		case f.form != nil && f.Aggregation.Folding == nil && (fits || len(f.inner) == 0):
			grouping.aggregates = append(grouping.aggregates, f.RowsFunction)
			ok = b.checkFrequency(n, f.Aggregation, f.form) && ok
		case fits || len(f.inner) == 0:
			aggregations, grouping.aggregates = append(aggregations, f.Aggregation), append(grouping.aggregates, f.RowsFunction)
			ok = b.areKeys(n, f.keys.All()) && ok
		}
	}
	// A key or an aggregate that does not fit is reported by itself.
	for _, a := range aggregations {
		if _, err := plan.NewAggregate(n, nil, []plan.Aggregation{a}, plan.GroupOptions{}); err != nil {
			b.reportUnless(plan.ReadableError(err), columnsOf([]plan.Aggregation{a}, nil))
			ok = false
		}
	}
	if !ok {
		b.lost(list)
		return nil
	}
	grouped, err := grouping.node()
	if err != nil {
		b.reportUnless(plan.ReadableError(err), columnsOf(aggregations, keys))
		return nil
	}
	return b.results(grouped, input, keys, values, list)
}

// lost notes that the columns of expressions are missing.
func (b *binder) lost(list []Expr) {
	for _, e := range list {
		b.missing[e.Name] = true
	}
}

// results makes the columns of a grouping: the keys, then the expressions.
func (b *binder) results(groups, input plan.Node, keys, values []expr.Expr, list []Expr) plan.Node {
	columns := make([]expr.Expr, 0, len(keys)+len(values))
	for _, k := range keys {
		columns = append(columns, expr.Col(k.Name()))
	}
	ok := true
	for i, v := range values {
		if !b.grouped(groups, input, v) {
			ok = false
			continue
		}
		columns = append(columns, plan.Named(v, list[i].Name))
	}
	if !ok {
		b.lost(list)
		return nil
	}
	n, err := plan.NewProject(groups, columns...)
	if err != nil {
		b.report(plan.ReadableError(err))
		return nil
	}
	return n
}

// grouped reports an expression that has a column outside of an aggregate.
func (b *binder) grouped(groups, input plan.Node, v expr.Expr) bool {
	for _, name := range v.Columns() {
		if !hasColumn(groups.Schema(), name) && hasColumn(input.Schema(), name) {
			b.report(fmt.Errorf("%q is no key and in no aggregate: use First, Min or List of it, or group by it: %w", plan.Readable(name), buffer.ErrSchema))
			return false
		}
	}
	return b.check(v, groups.Schema())
}
