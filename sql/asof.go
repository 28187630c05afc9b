package sql

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// nearest is the right row that a comparison of the left key with the right one finds.
var nearest = map[string]gpuframe.AsOfOptions{
	">=": {Direction: gpuframe.Backward}, ">": {Direction: gpuframe.Backward, NotEqual: true},
	"<=": {Direction: gpuframe.Forward}, "<": {Direction: gpuframe.Forward, NotEqual: true},
}

// mirrored are the comparisons with their sides exchanged.
var mirrored = map[string]string{">=": "<=", ">": "<", "<=": ">=", "<": ">"}

// asOf translates ASOF JOIN: by columns of USING, of which the last one is >=, or by equalities and one comparison.
func (t *translation) asOf(s *scope, item *tree.Join) *tableSet {
	left, right := t.tables(s, item.Left), t.tables(s, item.Right)
	conditions, columns := t.using(item, left, right)
	l, r := setOf(left.columns), setOf(right.columns)
	options := gpuframe.AsOfOptions{}
	var on gpuframe.JoinTerm
	if last := len(conditions) - 1; last >= 0 {
		on = gpuframe.On(conditions[last].left.expr, conditions[last].right.expr)
		conditions = conditions[:last]
	}
	if item.On != nil {
		t.refuseSubqueries(item.On, "the condition of an ASOF JOIN")
	}
	inner := t.below(s, &relation{columns: merged(left, right).columns}, "ON")
	for _, e := range conjuncts(item.On) {
		b, isComparison := e.(*tree.Binary)
		if !isComparison || mirrored[b.Op] == "" {
			conditions = append(conditions, t.term(inner, e))
			continue
		}
		if on != nil {
			t.fail(e, "an ASOF JOIN has one comparison of both sides, this is another one")
		}
		on, options = t.nearestOf(inner, b, l, r)
	}
	if on == nil {
		t.fail(item, "an ASOF JOIN needs a comparison of both sides with >=, >, <= or <")
	}
	for _, c := range conditions {
		if !c.equates(l, r) {
			t.fail(c.at, "a condition of an ASOF JOIN is an equality of both sides or its comparison: filter a derived table instead")
		}
		x, y := c.left, c.right
		if !x.uses.within(l) {
			x, y = y, x
		}
		options.By = append(options.By, gpuframe.On(x.expr, y.expr))
	}
	rows := &relation{columns: columns}
	rows.query = t.nearestRows(item.Kind, t.assemble(left), t.assemble(right), on, options)
	if item.Kind == tree.SemiJoin || item.Kind == tree.AntiJoin {
		rows.columns = left.columns
	}
	if item.Kind == tree.FullJoin {
		t.mergeFull(item, rows)
	}
	return leaf(rows)
}

// nearestRows joins the left rows with the nearest right ones. The kinds that depend on the right rows number them: those
// that no left row finds are added by a join with the numbers that were found.
func (t *translation) nearestRows(kind tree.JoinKind, left, right *relation, on gpuframe.JoinTerm, options gpuframe.AsOfOptions) gpuframe.Query {
	options.MatchedOnly = kind != tree.LeftJoin && kind != tree.FullJoin && kind != tree.AntiJoin
	if kind == tree.InnerJoin || kind == tree.LeftJoin {
		return left.query.AsOf(right.query, on, options)
	}
	id, nearest := t.unique("row"), t.unique("nearest")
	numbered := right.query.WithRowNumber(id)
	pairs := left.query.AsOf(numbered.Rename(id, nearest), on, options)
	switch kind {
	case tree.SemiJoin:
		return pairs.Select(cols(left.columns))
	case tree.AntiJoin:
		return pairs.Filter(gpuframe.Col(nearest).IsNull()).Select(cols(left.columns))
	}
	pairs = pairs.Select(append(cols(left.columns), gpuframe.Col(nearest)))
	return pairs.Join(numbered, joinKinds[kind], gpuframe.AnyOrder(), gpuframe.On(gpuframe.Col(nearest), gpuframe.Col(id)))
}

// nearestOf returns the keys of a comparison, and the right row that it finds.
func (t *translation) nearestOf(s *scope, e *tree.Binary, l, r columnSet) (gpuframe.JoinTerm, gpuframe.AsOfOptions) {
	x, y := t.keys(e, t.expr(s, e.X), t.expr(s, e.Y))
	op := e.Op
	if x != nil && !x.uses.within(l) {
		x, y, op = y, x, mirrored[op]
	}
	if x == nil || len(x.uses) == 0 || len(y.uses) == 0 || !x.uses.within(l) || !y.uses.within(r) {
		t.fail(e, "the comparison of an ASOF JOIN is of the left and the right side")
	}
	return gpuframe.On(x.expr, y.expr), nearest[op]
}
