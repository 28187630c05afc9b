package gpuframe

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// binder makes the plan of a query. It goes on after a problem, to report all of them.
type binder struct {
	ctx      context.Context
	at       *step
	bound    map[*step]plan.Node
	problems []Problem
	// trees are the expressions of the verb at hand.
	trees []expr.Expr
	// missing are columns that a verb with a problem would have made. Later expressions on
	// them are not reported again.
	missing map[string]bool
	// shape, if it is not nil, has the slots that stand for the tables.
	shape *shape
}

// standIn returns the slot for a source of tables, or the source.
func (b *binder) standIn(original source.Source) source.Source {
	if b.shape == nil {
		return original
	}
	return b.shape.slots[slices.Index(b.shape.sources, original)]
}

// bindQuery returns the plan of a query, not optimized. With a shape it has its slots.
func bindQuery(ctx context.Context, q Query, s *shape) (plan.Node, error) {
	if q.step == nil {
		return nil, &QueryError{[]Problem{{Verb: "Query", Err: errors.New("the zero Query has no source: begin with a method of an Engine")}}}
	}
	b := binder{ctx: ctx, bound: map[*step]plan.Node{}, missing: map[string]bool{}, shape: s}
	n := b.bind(q.step)
	if ctx.Err() != nil {
		return nil, failed(cancel.Error(ctx))
	}
	if len(b.problems) > 0 {
		return nil, &QueryError{b.problems}
	}
	return n, nil
}

// bind returns the node of a step, or nil. A step that several others use becomes one node.
func (b *binder) bind(s *step) plan.Node {
	if n, ok := b.bound[s]; ok {
		return n
	}
	inputs := make([]plan.Node, len(s.inputs))
	complete := true
	for i, input := range s.inputs {
		inputs[i] = b.bind(input)
		complete = complete && inputs[i] != nil
	}
	var n plan.Node
	b.at = s
	for _, input := range s.inputs {
		if input.engine != s.engine {
			b.report(fmt.Errorf("the queries belong to different engines: make both with methods of one: %w", device.ErrInvalidValue))
			complete = false
		}
	}
	if complete && b.ctx.Err() == nil {
		b.trees = nil
		problems := len(b.problems)
		n = s.bind(b, inputs)
		if len(b.problems) == problems {
			b.prepare()
		}
	}
	b.bound[s] = n
	return n
}

// prepare prepares the operators of the expressions of the step at hand, which takes long for
// patterns, and reports one that is too large.
func (b *binder) prepare() {
	if err := expr.Prepare(b.ctx, b.trees...); err != nil {
		b.report(readable{err})
	}
}

// report adds a problem of the step at hand.
func (b *binder) report(err error) { b.problems = append(b.problems, b.at.problem(err)) }

// checked reports an error about some columns, and returns the node or, instead of one that
// failed, another one.
func (b *binder) checked(n plan.Node, err error, instead plan.Node, columns ...string) plan.Node {
	if err == nil {
		return n
	}
	b.reportUnless(err, columns)
	return instead
}

// reportUnless reports an error, unless one of the columns is missing because of an error
// that was reported.
func (b *binder) reportUnless(err error, columns []string) {
	if !slices.ContainsFunc(columns, func(name string) bool { return b.missing[name] }) {
		b.report(err)
	}
}

// check reports an expression that does not fit a schema. None does after the end of the context.
func (b *binder) check(e expr.Expr, schema *arrow.Schema) bool {
	if b.ctx.Err() != nil {
		return false
	}
	_, _, err := e.Type(schema)
	if err != nil {
		b.reportUnless(readable{err}, e.Columns())
	}
	return err == nil
}

// readable is an error without marks of computed columns in its text.
type readable struct{ error }

// Error returns the text.
func (r readable) Error() string { return plan.Readable(r.error.Error()) }

// Unwrap returns the error.
func (r readable) Unwrap() error { return r.error }

// names returns the names of columns.
func names(schema *arrow.Schema) []string {
	list := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		list[i] = f.Name
	}
	return list
}

func hasColumn(schema *arrow.Schema, name string) bool { return len(schema.FieldIndices(name)) > 0 }

// filter keeps the rows in which a condition is true.
func (b *binder) filter(input plan.Node, condition Expr) plan.Node {
	n, values, ok := b.lower(input, condition)
	if !ok {
		return input
	}
	filtered, err := plan.NewFilter(n, values[0])
	if err != nil {
		b.reportUnless(readable{err}, values[0].Columns())
		return input
	}
	return b.without(filtered, n, input)
}

// dropNulls keeps the rows in which no column is null.
func (b *binder) dropNulls(input plan.Node, columns []string) plan.Node {
	var condition expr.Expr
	for _, name := range columns {
		valid := expr.Col(name).IsValid()
		switch {
		case !b.check(valid, input.Schema()):
		case condition.IsZero():
			condition = valid
		default:
			condition = condition.And(valid)
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
		name := e.Name()
		if taken[name] {
			b.report(fmt.Errorf("two expressions are named %q: give one of them another name with As: %w", name, buffer.ErrSchema))
			ok = false
			continue
		}
		taken[name] = true
		if values == nil || len(e.misuse) > 0 || !b.check(values[i], n.Schema()) {
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
func (b *binder) sort(input plan.Node, keys []Ordering, limit int64) plan.Node {
	list := make([]Expr, len(keys))
	orders := make([]plan.SortKey, len(keys))
	for i, k := range keys {
		if k == nil {
			continue
		}
		o := k.ordering()
		list[i], orders[i] = o.key, plan.SortKey{Descending: o.descending, NullsFirst: o.nullsFirst}
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
		b.reportUnless(readable{err}, columns)
		return input
	}
	return b.without(sorted, n, input)
}

// slice keeps some rows.
func (b *binder) slice(input plan.Node, offset, length int64) plan.Node {
	if length < 0 {
		b.report(fmt.Errorf("the number of rows is %d, expected zero or more: %w", length, device.ErrInvalidValue))
		return input
	}
	n, err := plan.NewSlice(input, offset, length)
	return b.checked(n, err, input)
}
