package sql

import (
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// A scalar subquery of aggregates often has the tables and conditions of the query around it: rows above the mean
// of their group. Then its aggregates are windows of the rows, and the tables are joined once (Zuzarte et al.,
// "WinMagic: Subquery Elimination Using Window Aggregation", 2003).

// block is the tables and conditions of rows that nothing else has filtered.
type block struct {
	leaves     []*relation
	columns    []*column
	conditions []condition
}

// ofCopies are the aggregates that have the same value if each row occurs equally often.
var ofCopies = map[string]bool{"min": true, "max": true, "avg": true, "mean": true, "bool_and": true, "bool_or": true}

// ofParts are the aggregates of all rows by those of the values of groups.
var ofParts = map[string]func(e gpuframe.Expr) gpuframe.Expr{
	"sum": gpuframe.Expr.Sum, "count": gpuframe.Expr.Sum, "min": gpuframe.Expr.Min, "max": gpuframe.Expr.Max,
}

// windowing is a subquery on its way to windows of the rows of a scope.
type windowing struct {
	*translation
	around *scope
	// inner has the tables of the subquery. Their columns are those of the rows around.
	inner *scope
	// matched are the numbers of the tables around that are those of the subquery, with the ids of their columns.
	matched map[int]bool
	ids     map[string]bool
	// keys are the columns of the rows that the windows are divided by, and filter the conditions of the subquery
	// that the rows around do not have.
	keys   map[string]bool
	filter []tree.Expr
}

// windowed translates a scalar subquery of aggregates as windows. It reports whether that is possible.
func (t *translation) windowed(s *scope, e *tree.Scalar) (v value, ok bool) {
	b := t.aggregateOf(e.Query)
	if s.block == nil || b == nil || b.Having != nil || hasSubquery(b.Where) || hasSubquery(b.Items[0].Expr) {
		return v, false
	}
	var foreign []*column
	w := windowing{translation: t, around: s, matched: map[int]bool{}, ids: map[string]bool{}, keys: map[string]bool{}}
	w.inner = &scope{outer: s, foreign: &foreign, rows: &relation{query: s.rows.query}, clause: "WHERE"}
	terms := conjuncts(b.Where)
	for _, item := range b.From {
		on, ok := w.addTable(item)
		if !ok {
			return v, false
		}
		terms = append(terms, on...)
	}
	if !w.divide(terms) {
		return v, false
	}
	return w.value(b.Items[0].Expr)
}

// aggregateOf returns the SELECT of a query of an expression of aggregates without groups, or nil.
func (t *translation) aggregateOf(q *tree.Query) *tree.Select {
	b, ok := q.Body.(*tree.Select)
	if !ok || b.GroupBy != nil || len(b.Items) != 1 || !t.hasAggregates(b, &tree.Query{}) || b.Distinct != nil || b.Qualify != nil || b.Sample != nil || q.Limit != nil || q.Offset != nil || hasWindow(b.Items[0].Expr) || q.With != nil {
		return nil
	}
	return b
}

// addTable matches a table of the subquery with one around it. It returns the conditions of inner joins.
func (w *windowing) addTable(item tree.Table) (terms []tree.Expr, ok bool) {
	switch item := item.(type) {
	case *tree.TableName:
		return nil, item.Sample == nil && w.matchTable(w.named(item))
	case *tree.Join:
		if item.Kind != tree.InnerJoin && item.Kind != tree.CrossJoin || item.Natural || item.AsOf || len(item.Using) > 0 || hasSubquery(item.On) {
			return nil, false
		}
		left, ok := w.addTable(item.Left)
		if !ok {
			return nil, false
		}
		right, ok := w.addTable(item.Right)
		return slices.Concat(left, right, conjuncts(item.On)), ok
	}
	return nil, false
}

// matchTable gives the columns of a table the ids of those of the first table around with the same rows.
func (w *windowing) matchTable(table *relation) bool {
	for i, l := range w.around.block.leaves {
		if w.matched[i] || l.source == (gpuframe.Query{}) || l.source != table.source {
			continue
		}
		w.matched[i] = true
		for at, c := range table.columns {
			same := *c
			same.id = l.columns[at].id
			w.ids[same.id] = true
			w.inner.rows.columns = append(w.inner.rows.columns, &same)
		}
		return true
	}
	return false
}

// divide divides the conditions of the subquery: those of the rows around, those with a column of these, which are
// equalities of keys, and the others. It reports whether that is possible.
func (w *windowing) divide(terms []tree.Expr) bool {
	around, own, theirs := map[string]bool{}, setOf(w.inner.rows.columns), setOf(w.around.block.columns)
	for _, c := range w.around.block.conditions {
		around[c.print()] = true
	}
	shared := map[string]bool{}
	for _, e := range terms {
		c := w.term(w.inner, e)
		print := c.print()
		switch {
		case c.value.uses.within(own) && around[print]:
			shared[print] = true
		case c.value.uses.within(own):
			w.filter = append(w.filter, e)
		case c.left == nil || !c.value.uses.within(union(own, theirs)):
			return false
		default:
			key := columnOf(*c.left)
			if key == nil || !own[key] {
				key = columnOf(*c.right)
			}
			isTrivial := c.left.expr.String() == c.right.expr.String()
			if key == nil || !own[key] || !isTrivial && !around[print] {
				return false
			}
			if w.keys[key.id] = true; isTrivial && !around[print] {
				w.filter = append(w.filter, e) // a null key has no rows
			}
		}
	}
	return w.isComplete(shared)
}

// isComplete reports whether each window has all rows of the subquery, each equally often: the conditions that the
// subquery does not share are, of its columns, on keys alone.
func (w *windowing) isComplete(shared map[string]bool) bool {
	for _, c := range w.around.block.conditions {
		if shared[c.print()] {
			continue
		}
		for each := range c.value.uses {
			if w.ids[each.id] && !w.keys[each.id] {
				return false
			}
		}
	}
	return true
}

// print returns a text that equal conditions share.
func (c condition) print() string {
	if c.left == nil {
		return c.value.expr.String()
	}
	sides := []string{c.left.expr.String(), c.right.expr.String()}
	slices.Sort(sides)
	return strings.Join(sides, " = ")
}

// value computes the aggregates as windows, and then the expression.
func (w *windowing) value(e tree.Expr) (v value, ok bool) {
	group := &grouping{keys: map[string]*column{}, aggregates: map[string]*column{}, columns: map[*column]*column{}, counts: map[*column]bool{}}
	isWhole := len(w.matched) == len(w.around.block.leaves)
	var calls []*tree.Call
	w.eachAggregate(e, func(call *tree.Call) { calls = append(calls, call) })
	for _, call := range calls {
		name := strings.ToLower(text(call.Name))
		a, _ := aggregateOf(name)
		if !w.isOwn(call) || call.Distinct && !a.once || call.OrderBy != nil || call.Within != nil || a.ordered || !isWhole && !ofCopies[name] {
			return v, false
		}
		if w.around.group != nil && (!isWhole || len(w.keys) > 0 || len(w.filter) > 0 || ofParts[name] == nil || w.part(call) == nil) {
			return v, false
		}
	}
	for _, call := range calls {
		window := w.window(call, strings.ToLower(text(call.Name)))
		if window == nil {
			return v, false
		}
		group.aggregates[w.fingerprint(w.inner, call)] = window
	}
	w.around.rows.query = w.inner.rows.query
	return w.expr(&scope{outer: w.around, rows: w.around.rows, foreign: w.inner.foreign, input: w.inner, group: group, clause: "SELECT"}, e), true
}

// isOwn reports whether an aggregate has columns of the subquery alone: those around have the same ids.
func (w *windowing) isOwn(call *tree.Call) bool {
	isOwn := true
	walk(call, func(n tree.Node) bool {
		if c, ok := n.(*tree.Column); ok {
			own, _ := w.local(w.inner.rows, c, c.Name)
			isOwn = isOwn && own != nil
		}
		return isOwn
	})
	return isOwn
}

// part returns the column of the groups around that is an aggregate, or nil.
func (w *windowing) part(call *tree.Call) *column {
	c := w.around.group.aggregates[w.fingerprint(w.inner, call)]
	if c == nil || !isNumber(c.dataType) {
		return nil
	}
	return c
}

// window adds an aggregate to the rows around.
func (w *windowing) window(call *tree.Call, name string) *column {
	var v value
	if w.around.group != nil {
		v = w.typed(call, func(list []gpuframe.Expr) gpuframe.Expr { return ofParts[name](list[0]) }, w.part(call).value())
	} else {
		filtered := *call
		for _, e := range w.filter {
			if filtered.Filter != nil {
				e = &tree.Logic{Position: call.Position, Terms: []tree.Expr{e, filtered.Filter}}
			}
			filtered.Filter = e
		}
		v = w.aggregateValue(w.inner, w.withoutFilter(&filtered, name))
	}
	if v.null {
		return nil
	}
	var keys []gpuframe.Expression
	for _, c := range w.inner.rows.columns {
		if w.keys[c.id] {
			keys = append(keys, gpuframe.Col(c.id))
		}
	}
	v.expr = v.expr.Over(gpuframe.By(keys))
	return w.attach(w.inner.rows, v, name)
}
