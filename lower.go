package gpuframe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// areAggregates reports whether no expression has a column outside of an aggregate, and
// there is an aggregate.
func areAggregates(list []Expr) bool {
	hasAggregate := false
	for _, e := range list {
		for _, name := range e.value.Columns() {
			p, ok := e.parts[name]
			if !ok || p.isWindow() {
				return false
			}
			hasAggregate = true
		}
	}
	return hasAggregate
}

// lower computes the windows of expressions, and returns a node with their columns and the
// expressions on them. Aggregates without a window are of all rows. ok is false after a
// problem; then there may be no expressions.
func (b *binder) lower(input plan.Node, list ...Expr) (n plan.Node, values []expr.Expr, ok bool) {
	var all parts
	ok = b.proper(list)
	for _, e := range list {
		values = append(values, all.join(e))
	}
	b.computed, b.columns = parts{}, map[*part]string{}
	n, renamed, fits := b.windows(input, all)
	if !fits {
		return input, nil, false
	}
	for i := range values {
		values[i] = rename(values[i], renamed)
	}
	return n, values, ok
}

// proper reports expressions of the step at hand that were not made properly.
func (b *binder) proper(list []Expr) bool {
	b.list = append(b.list, list...)
	ok := true
	for _, e := range list {
		if e.misuse != nil {
			b.report(e.misuse)
			ok = false
		}
	}
	return ok
}

// prepare prepares the operators of expressions and of their aggregates, which takes long for
// patterns, and reports one that is too large.
func (b *binder) prepare(list []Expr) {
	seen := map[*part]bool{}
	var all []expr.Expr
	var add func(parts parts)
	add = func(parts parts) {
		for _, p := range parts {
			if !seen[p] {
				seen[p] = true
				all = append(append(all, p.aggregation.Values...), p.aggregation.Where)
				add(p.inner)
			}
		}
	}
	for _, e := range list {
		all = append(all, e.value)
		add(e.parts)
	}
	if err := expr.Prepare(b.ctx, all...); err != nil {
		b.report(readable{err})
	}
}

// windows computes parts as windows. Parts of the same partition are computed together. The
// column of a part has its name, or the one in renamed if another part with that text is computed
// already.
func (b *binder) windows(n plan.Node, all parts) (widened plan.Node, renamed map[string]string, ok bool) {
	renamed = map[string]string{}
	var names []string
	for name, p := range all {
		switch column, known := b.columns[p]; {
		case !known:
			names = append(names, name)
		case column != name:
			renamed[name] = column
		}
	}
	slices.Sort(names)
	read := map[string]plan.Aggregation{}
	for _, name := range names {
		if n, read[name], ok = b.inner(n, all[name]); !ok {
			return n, nil, false
		}
	}
	var partitions []windowed
	for _, name := range names {
		p := all[name]
		column, known := b.columnOf(name, p)
		b.columns[p] = column
		if column != name {
			renamed[name] = column
		}
		if known {
			continue
		}
		b.computed[column] = p
		aggregation, window, over := read[name], p.window, p.isOver()
		aggregation.Name = column
		if window == nil {
			window = &Window{}
		}
		at := slices.IndexFunc(partitions, func(q windowed) bool { return q.over == over && q.window.sameRows(window, over) })
		if at < 0 {
			at, partitions = len(partitions), append(partitions, windowed{window: window, over: over})
		}
		partitions[at].aggregations = append(partitions[at].aggregations, aggregation)
		partitions[at].frames = append(partitions[at].frames, p.frame)
	}
	for _, p := range partitions {
		above, ok := b.window(n, p)
		if !ok {
			return n, nil, false
		}
		n = above
	}
	return n, renamed, true
}

// columnOf returns the column of a part, and whether it is computed. Different parts may have the
// same text: qty / 2 is that of a division by an integer and by a float.
func (b *binder) columnOf(name string, p *part) (column string, known bool) {
	column = name
	for n := 2; ; n++ {
		other, taken := b.computed[column]
		if !taken || other.same(p) {
			return column, taken
		}
		column = fmt.Sprintf("%s (%d)", name, n)
	}
}

// windowed is functions of the same windows. over is set if they are of an order or a frame.
type windowed struct {
	window       *Window
	over         bool
	aggregations []plan.Aggregation
	frames       []plan.Frame
}

// window computes functions of the same windows.
func (b *binder) window(n plan.Node, w windowed) (plan.Node, bool) {
	keys, ok := b.keys(n, w.window.partition)
	if !ok {
		return n, false
	}
	if !w.over {
		wider, err := plan.NewWindow(n, keys, w.aggregations)
		if err != nil {
			b.reportUnless(readable{err}, columnsOf(w.aggregations, keys))
			return n, false
		}
		return wider, true
	}
	orders, values := make([]plan.SortKey, len(w.window.order)), make([]Expr, len(w.window.order))
	for i, o := range w.window.order {
		orders[i], values[i] = plan.SortKey{Descending: o.descending, NullsFirst: o.nullsFirst}, o.key
	}
	sorted, ok := b.keys(n, values)
	if !ok {
		return n, false
	}
	for i, v := range sorted {
		orders[i].Value = v
	}
	functions := make([]plan.WindowFunction, len(w.aggregations))
	for i, a := range w.aggregations {
		functions[i] = plan.WindowFunction{Aggregation: a, Frame: w.frames[i]}
	}
	wider, err := plan.NewOver(n, keys, orders, functions)
	if err != nil {
		b.reportUnless(readable{err}, columnsOf(w.aggregations, append(keys, sorted...)))
		return n, false
	}
	return wider, true
}

// inner computes the windows that a part reads, and returns its aggregation of their columns. An
// aggregate in an aggregate is refused.
func (b *binder) inner(n plan.Node, p *part) (widened plan.Node, aggregation plan.Aggregation, ok bool) {
	for _, inner := range p.inner {
		if !inner.isWindow() {
			b.report(fmt.Errorf("%v is an aggregate of an aggregate: compute the inner one with With first, or add Over to it", p.aggregation))
			return n, p.aggregation, false
		}
	}
	widened, renamed, ok := b.windows(n, p.inner)
	if len(renamed) == 0 {
		return widened, p.aggregation, ok
	}
	aggregation = p.aggregation
	aggregation.Values = slices.Clone(aggregation.Values)
	for i, v := range aggregation.Values {
		aggregation.Values[i] = rename(v, renamed)
	}
	aggregation.Where = rename(aggregation.Where, renamed)
	return widened, aggregation, ok
}

// keys returns expressions without aggregates.
func (b *binder) keys(n plan.Node, list []Expr) (keys []expr.Expr, ok bool) {
	ok = b.proper(list)
	for _, e := range list {
		if len(e.parts) > 0 {
			b.report(fmt.Errorf("the key %v has an aggregate: compute it with With first", e))
			ok = false
			continue
		}
		ok = b.check(e.value, n.Schema()) && ok
		keys = append(keys, named(e.value, e.Name()))
	}
	return keys, ok
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

// aggregate groups rows by keys and makes columns of expressions on keys and aggregates.
func (b *binder) aggregate(input plan.Node, groupKeys, list []Expr, options plan.GroupOptions) plan.Node {
	keys, ok := b.keys(input, groupKeys)
	ok = b.proper(list) && ok
	var all parts
	values := make([]expr.Expr, len(list))
	for i, e := range list {
		values[i] = all.join(e)
	}
	n := input
	b.computed, b.columns = parts{}, map[*part]string{}
	var aggregations []plan.Aggregation
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		if p.isWindow() {
			b.report(fmt.Errorf("%v is a window, which has a value for each row: aggregate it, or compute it with With first", plan.Readable(name)))
			ok = false
			continue
		}
		widened, aggregation, fits := b.inner(n, p)
		if n = widened; !fits {
			ok = false
			continue
		}
		aggregations = append(aggregations, aggregation)
	}
	// A key or an aggregate that does not fit is reported by itself.
	for _, a := range aggregations {
		if _, err := plan.NewAggregate(n, nil, []plan.Aggregation{a}, plan.GroupOptions{}); err != nil {
			b.reportUnless(readable{err}, columnsOf([]plan.Aggregation{a}, nil))
			ok = false
		}
	}
	if !ok {
		b.lost(list)
		return nil
	}
	groups, err := plan.NewAggregate(n, keys, aggregations, options)
	if err != nil {
		b.reportUnless(readable{err}, columnsOf(aggregations, keys))
		return nil
	}
	return b.results(groups, input, keys, values, list)
}

// lost notes that the columns of expressions are missing.
func (b *binder) lost(list []Expr) {
	for _, e := range list {
		b.missing[e.Name()] = true
	}
}

// results makes the columns of a grouping: the keys, then the expressions.
func (b *binder) results(groups *plan.Aggregate, input plan.Node, keys, values []expr.Expr, list []Expr) plan.Node {
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
		columns = append(columns, named(v, list[i].Name()))
	}
	if !ok {
		b.lost(list)
		return nil
	}
	n, err := plan.NewProject(groups, columns...)
	if err != nil {
		b.report(readable{err})
		return nil
	}
	return n
}

// grouped reports an expression that has a column outside of an aggregate.
func (b *binder) grouped(groups *plan.Aggregate, input plan.Node, v expr.Expr) bool {
	for _, name := range v.Columns() {
		if !hasColumn(groups.Schema(), name) && hasColumn(input.Schema(), name) {
			b.report(fmt.Errorf("%q is no key and in no aggregate: use First, Min or List of it, or group by it: %w", name, buffer.ErrSchema))
			return false
		}
	}
	return b.check(v, groups.Schema())
}
