package sql

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// keepMatches keeps rows by a term of WHERE that is EXISTS, NOT EXISTS or IN of a plain query, NOT IN of a query that
// does not depend on the rows, or IN of a long list: a semi or anti join. It reports whether the term is one.
func (t *translation) keepMatches(s *scope, e tree.Expr) bool {
	kind := gpuframe.Semi
	if n, ok := e.(*tree.Unary); ok && n.Op == "not" {
		if x, isExists := n.X.(*tree.Exists); isExists {
			kind, e = gpuframe.Anti, x
		}
	}
	switch e := e.(type) {
	case *tree.Exists:
		// Conditions on rows with equal keys cost more than joins: question 21 of TPC-H took longer with them first.
		return s.tables == nil && t.match(s, kind, nil, e.Query)
	case *tree.In:
		if row, isRow := e.X.(*tree.Row); isRow {
			if e.Query == nil || e.Not {
				return false
			}
			t.requireColumns(s, e, e.Query, row)
			return t.keepMatches(s, rowExists(e, row, e.Query))
		}
		if e.Query != nil && !hasSubquery(e.X) {
			return !e.Not && t.match(s, kind, e.X, e.Query) || t.matchAny(s, e)
		}
		if isLong(e) && !hasSubquery(e.X) {
			return t.matchList(s, e)
		}
	}
	return false
}

// match joins the rows with a plain query: SELECT of tables with a condition. x is the left side of IN, or nil.
func (t *translation) match(s *scope, kind gpuframe.JoinKind, x tree.Expr, q *tree.Query) bool {
	b, ok := q.Body.(*tree.Select)
	if !ok || q.With != nil || q.Limit != nil || q.Offset != nil || b.Qualify != nil || b.Sample != nil || b.Distinct != nil && len(b.Distinct.On) > 0 || len(b.From) == 0 || t.isGrouped(b, q) {
		return false
	}
	var foreign []*column
	inner := &scope{outer: s, foreign: &foreign, clause: "FROM"}
	set := t.from(inner, b.From)
	if len(foreign) > 0 {
		return false
	}
	inner.rows, inner.clause = &relation{columns: set.columns}, "WHERE"
	inner.aliases = t.items(inner.rows, b.Items)
	var own, both []condition
	var later []tree.Expr
	for _, e := range conjuncts(b.Where) {
		if hasSubquery(e) || isLong(e) {
			later = append(later, e)
			continue
		}
		foreign = nil
		c := t.term(inner, e)
		if len(foreign) > 0 {
			both = append(both, c)
		} else {
			own = append(own, c)
		}
	}
	set.conditions = append(set.conditions, own...)
	foreign = nil
	inner.rows = t.assemble(set)
	for _, e := range later {
		t.keep(inner, e)
	}
	if x != nil {
		c, ok := t.membership(s, inner, x, b.Items)
		if !ok {
			return false
		}
		both = append(both, c)
	}
	if len(foreign) > 0 || len(both) == 0 {
		return false
	}
	uses := everything(both, set.columns)
	rows := s.rows
	if s.tables != nil {
		if rows = t.tableOf(s.tables, uses); rows == nil {
			return false
		}
	}
	s.block = nil
	rows.query = joined(rows.query, inner.rows.query, uses, setOf(set.columns), kind, both)
	return true
}

// matchAny joins the rows with any query that does not depend on them, for IN and NOT IN.
func (t *translation) matchAny(s *scope, e *tree.In) bool {
	var foreign []*column
	out := t.query(&scope{outer: s, foreign: &foreign}, e.Query)
	if len(foreign) > 0 || len(out.columns) != 1 {
		return false
	}
	x, y := t.settled(t.expr(s, e.X)), out.columns[0].value()
	if x.isConstant() || y.isConstant() || isText(x.dataType) != isText(y.dataType) {
		return false
	}
	c := condition{at: e, value: t.binary(e, "=", x, y)}
	c.left, c.right = t.keys(e, x, y)
	rows := s.rows
	if s.tables != nil {
		if rows = t.tableOf(s.tables, x.uses); rows == nil {
			return false
		}
	}
	s.block = nil
	kind := gpuframe.Semi
	if e.Not {
		kind = gpuframe.Anti
	}
	left := rows.query
	rows.query = joined(left, out.query, x.uses, y.uses, kind, []condition{c})
	if e.Not && (t.isNullable(s, e, left, x) || t.isNullable(s, e, out.query, y)) {
		t.keepKnown(e, rows, x, &out)
	}
	return true
}

// mostListed is the number of literals up to which IN compares with each. With 10,000 literals 1,000,000 integers took
// 5.9 s on the host so, and 0.16 s as a join.
const mostListed = 64

// isLong reports whether a term is IN a long list.
func isLong(e tree.Expr) bool {
	in, ok := e.(*tree.In)
	return ok && len(in.List) > mostListed
}

// matchList joins the rows with the literals of a long list, for IN and NOT IN. It reports whether they are of one type
// of integers, texts, dates or timestamps.
func (t *translation) matchList(s *scope, e *tree.In) bool {
	x := t.settled(t.expr(s, e.X))
	if x.isConstant() || len(x.uses) == 0 {
		return false
	}
	all := t.unified(e, append([]value{x}, t.exprs(s, e.List)...)...)
	y := &column{id: t.unique("listed")}
	list, ok := t.listed(e, y, all[1:], e.Not)
	if !ok {
		return false
	}
	c := condition{at: e, value: t.binary(e, "=", all[0], y.value())}
	c.left, c.right = t.keys(e, all[0], y.value())
	rows := s.rows
	if s.tables != nil {
		if rows = t.tableOf(s.tables, x.uses); rows == nil {
			return false
		}
	}
	s.block = nil
	kind := gpuframe.Semi
	if e.Not {
		kind, rows.query = gpuframe.Anti, rows.query.Filter(t.not(e, t.isNull(e, x)).expr)
	}
	rows.query = joined(rows.query, list, x.uses, y.value().uses, kind, []condition{c})
	return true
}

// listed returns the rows of literals, and sets the type of their column. Nulls are left out, unless they decide.
func (t *translation) listed(at tree.Node, y *column, literals []value, nullsDecide bool) (list gpuframe.Query, ok bool) {
	for _, v := range literals {
		if !v.isConstant() || v.null && nullsDecide || !v.null && y.dataType != nil && !arrow.TypeEqual(y.dataType, v.dataType) {
			return list, false
		}
		if !v.null {
			y.dataType = v.dataType
		}
	}
	if y.dataType == nil {
		return list, false
	}
	builder := array.NewBuilder(memory.DefaultAllocator, y.dataType)
	defer builder.Release()
	for _, v := range literals {
		if !v.null && !t.appendLiteral(at, builder, v) {
			return list, false
		}
	}
	return t.recordOf(y.id, y.dataType, builder), true
}

// isNullable reports whether a value of the rows of a query can be null. The rows of a query that refers to columns
// around it have no schema until these have columns that stand for them, nor have those of queries within it.
func (t *translation) isNullable(s *scope, at tree.Node, q gpuframe.Query, v value) bool {
	for around := s; around != nil; around = around.outer {
		if around.foreign != nil && len(*around.foreign) > 0 {
			return true
		}
	}
	return t.schema(at, q.Select(v.expr.As("value"))).Field(0).Nullable
}

// keepKnown keeps rows, of which none has a match, for which NOT IN a query is not null: all if the query has no rows,
// and else those with a value if it has no null.
func (t *translation) keepKnown(at tree.Node, rows *relation, x value, out *output) {
	y := out.columns[0]
	all, values := &column{id: t.unique("rows"), dataType: int64Type}, &column{id: t.unique("values"), dataType: int64Type}
	counts := out.query.Select(gpuframe.Count().As(all.id), gpuframe.Col(y.id).Count().As(values.id))
	isKnown := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		return list[0].Eq(int64(0)).Or(list[0].Eq(list[1]).And(list[2].IsValid()))
	}, all.value(), values.value(), x)
	rows.query = rows.query.Join(counts, gpuframe.Cross, gpuframe.AnyOrder()).Filter(isKnown.expr)
}

// tableOf returns the only table that columns are of, or nil.
func (t *translation) tableOf(tables *tableSet, uses columnSet) *relation {
	for i, l := range tables.leaves {
		if uses.within(t.columnsOf(tables, l)) {
			own := *l // the rows of a leaf may be shared
			own.source = gpuframe.Query{}
			tables.leaves = slices.Clone(tables.leaves)
			tables.leaves[i] = &own
			return &own
		}
	}
	return nil
}

// membership returns the condition that the left side of IN equals the item of a query.
func (t *translation) membership(s, inner *scope, x tree.Expr, items []tree.Item) (c condition, ok bool) {
	if len(inner.aliases) != 1 || len(items) != 1 || hasWindow(items[0].Expr) || hasSubquery(items[0].Expr) {
		return c, false
	}
	left, right := t.settled(t.expr(s, x)), t.settled(t.itemValue(inner, inner.aliases[0]))
	both := t.unified(x, left, right)
	if both[0].isConstant() || both[1].isConstant() || isText(both[0].dataType) != isText(both[1].dataType) {
		return c, false
	}
	c = condition{at: x, value: t.binary(x, "=", both[0], both[1])}
	c.left, c.right = t.keys(x, both[0], both[1])
	return c, true
}

// everything returns the columns of conditions that are not among the inner ones.
func everything(conditions []condition, inner []*column) columnSet {
	set, own := columnSet{}, setOf(inner)
	for _, c := range conditions {
		for each := range c.value.uses {
			if !own[each] {
				set[each] = true
			}
		}
	}
	return set
}
