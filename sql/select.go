package sql

import (
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// selection translates SELECT with the clauses of its query.
func (t *translation) selection(s *scope, b *tree.Select, q *tree.Query) output {
	rows, carried := t.input(s, b)
	rows.aliases = t.items(rows.rows, b.Items)
	rows.windows = t.namedWindows(b)
	if t.isGrouped(b, q) {
		rows = t.group(rows, b, q, carried, s.dependence)
	}
	if b.Having != nil {
		rows.clause = "HAVING"
		for _, term := range conjuncts(b.Having) {
			t.keep(rows, term)
		}
	}
	out := t.project(rows, b, q, carried)
	isMany := slices.ContainsFunc(rows.aliases, func(i item) bool { return unnestOf(i.expr) != nil })
	out.isSingle = out.isSingle || rows.group != nil && b.GroupBy == nil && !isMany
	return out
}

// input returns the scope of the rows behind FROM and WHERE, and the columns that stand for those of a
// dependence.
func (t *translation) input(s *scope, b *tree.Select) (rows *scope, carried []*column) {
	rows = &scope{outer: s.outer, foreign: s.foreign, clause: "FROM"}
	var values *relation
	if s.dependence != nil {
		values, rows.domain = s.dependence.copied(t)
	}
	set := t.from(rows, b.From)
	if b.Sample != nil {
		if s.dependence != nil {
			t.fail(b.Sample, "a sample in a subquery that depends on the rows around it is not supported")
		}
		set = leaf(t.sampled(b.Sample, t.assemble(set)))
	}
	rows.rows = &relation{columns: set.columns}
	rows.clause, rows.aliases = "WHERE", t.items(rows.rows, b.Items)
	standIns := columnSet{}
	if s.dependence != nil && t.isStandIn(s, rows, set, b) {
		for _, c := range rows.domain {
			standIns[c] = true
		}
	} else if s.dependence != nil {
		set = &tableSet{leaves: append([]*relation{values}, set.leaves...), columns: set.columns, conditions: set.conditions}
	}
	var later []tree.Expr
	for _, e := range conjuncts(b.Where) {
		if hasSubquery(e) || isLong(e) {
			later = append(later, e)
		} else if c := t.term(rows, e); !c.isOf(standIns) {
			set.conditions = append(set.conditions, c)
		}
	}
	rows.tables = set
	later = slices.DeleteFunc(later, func(e tree.Expr) bool { return t.keepMatches(rows, e) })
	rows.tables, rows.rows = nil, t.assemble(set)
	if s.dependence == nil {
		rows.block = &block{set.leaves, set.columns, set.conditions}
	}
	for _, e := range later {
		t.keep(rows, e)
	}
	if s.dependence != nil {
		for _, c := range s.dependence.columns {
			carried = append(carried, rows.domain[c])
		}
	}
	return rows, carried
}

// isStandIn makes columns of the tables stand for those of the dependence, if WHERE requires that they are
// equal. Then the rows need no join with the values of the dependence. It reports whether that is possible.
func (t *translation) isStandIn(s, rows *scope, set *tableSet, b *tree.Select) bool {
	if !s.dependence.isScalar && b.GroupBy == nil && t.hasAggregates(b, &tree.Query{}) {
		return false // groups without rows need the values
	}
	values := columnSet{}
	for _, c := range rows.domain {
		values[c] = true
	}
	for _, c := range set.conditions {
		if c.value.uses.meets(values) {
			return false
		}
	}
	equal := map[*column]*column{}
	for _, e := range conjuncts(b.Where) {
		if x, ok := equality(e); ok && !hasSubquery(e) {
			left, right := columnOf(t.expr(rows, x.X)), columnOf(t.expr(rows, x.Y))
			if left != nil && right != nil && values[left] && !values[right] {
				equal[left] = right
			} else if left != nil && right != nil && values[right] && !values[left] {
				equal[right] = left
			}
		}
	}
	for _, c := range s.dependence.columns {
		other := equal[rows.domain[c]]
		if other == nil || other.dataType.ID() != c.dataType.ID() {
			return false
		}
	}
	for _, c := range s.dependence.columns {
		other := equal[rows.domain[c]]
		valid := other.value()
		valid = t.not(b, t.isNull(b, valid))
		set.conditions = append(set.conditions, condition{at: b, value: valid})
		rows.domain[c] = other
	}
	return true
}

// isOf reports whether the condition is that a column of a set equals itself.
func (c condition) isOf(set columnSet) bool {
	if c.left == nil {
		return false
	}
	left, right := columnOf(*c.left), columnOf(*c.right)
	return left != nil && left == right && set[left]
}

// columnOf returns the column that a value is, or nil.
func columnOf(v value) *column {
	if len(v.uses) == 1 && !v.isConstant() {
		for c := range v.uses {
			if v.expr.String() == c.value().expr.String() {
				return c
			}
		}
	}
	return nil
}

// hasSubquery reports whether an expression joins its rows with others: those of a query, or of a list of literals.
func hasSubquery(e tree.Expr) (has bool) {
	walk(e, func(n tree.Node) bool {
		switch n.(type) {
		case *tree.Query, *tree.List:
			has = true
		}
		return !has
	})
	return has
}

// hasAggregates reports whether SELECT has an aggregate of the rows, outside of windows and subqueries.
func (t *translation) hasAggregates(b *tree.Select, q *tree.Query) (has bool) {
	list := clauses(b, q)
	for _, i := range b.Items {
		list = append(list, i.Expr)
	}
	for _, e := range list {
		t.eachAggregate(e, func(*tree.Call) { has = true })
	}
	return has
}

// eachAggregate calls a function with the aggregates of an expression. Those in the arguments of windows are among
// them.
func (t *translation) eachAggregate(e tree.Expr, f func(*tree.Call)) {
	walk(e, func(n tree.Node) bool {
		switch n := n.(type) {
		case *tree.Query:
			return false
		case *tree.Call:
			if n.Over == nil && isAggregate(strings.ToLower(text(n.Name))) {
				calls := fractionLists(n)
				if calls == nil {
					calls = []*tree.Call{n}
				}
				for _, call := range calls {
					f(call)
				}
				return false
			}
		}
		return true
	})
}

// isGrouped reports whether the rows of SELECT are groups.
func (t *translation) isGrouped(b *tree.Select, q *tree.Query) bool {
	return b.GroupBy != nil || b.Having != nil || t.hasAggregates(b, q)
}

// keep keeps the rows for which a term of a condition is true.
func (t *translation) keep(s *scope, e tree.Expr) {
	if t.keepMatches(s, e) {
		return
	}
	v := t.condition(e, t.expr(s, e))
	s.rows.query, s.block = s.rows.query.Filter(v.expr), nil
}

// projection is the columns of a SELECT in the making.
type projection struct {
	list []gpuframe.Expression
	// exploded are the columns of lists that have a row for each element.
	exploded []string
}

func (t *translation) addTo(p *projection, v value, name string) *column {
	isNull := v.null && v.dataType == nil
	v = t.settled(v)
	c := &column{name: name, id: t.unique(name), dataType: v.dataType, bits: v.bits, isNull: isNull}
	p.list = append(p.list, v.expr.As(c.id))
	return c
}

// project computes the items of SELECT, then QUALIFY, DISTINCT, ORDER BY and LIMIT.
func (t *translation) project(s *scope, b *tree.Select, q *tree.Query, carried []*column) output {
	var p projection
	var out output
	s.clause = "SELECT"
	lists := t.unnestedLists(s)
	for _, i := range s.aliases {
		if call := unnestOf(i.expr); call != nil {
			out.columns = append(out.columns, t.unnestedItem(s, &p, call, i.name, lists))
			continue
		}
		v := t.itemValue(s, i)
		if v.interval != nil {
			t.fail(i.expr, "an interval cannot be a column: add it to a date or timestamp")
		}
		out.columns = append(out.columns, t.addTo(&p, v, i.name))
	}
	for _, c := range carried {
		if s.group != nil {
			c = s.group.columns[c]
		}
		out.carried = append(out.carried, t.addTo(&p, c.value(), "dependence"))
	}
	keys := t.sortColumns(s, &p, out.columns, b, q)
	var on []string
	if b.Distinct != nil {
		s.clause = "DISTINCT ON"
		for _, e := range b.Distinct.On {
			on = append(on, t.outputColumn(s, &p, out.columns, e).id)
		}
	}
	qualify := ""
	if b.Qualify != nil {
		s.clause = "QUALIFY"
		qualify = t.addTo(&p, t.condition(b.Qualify, t.expr(s, b.Qualify)), "qualify").id
	}
	out.query = s.rows.query.Select(p.list)
	if len(p.exploded) > 0 {
		out.query = out.query.ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true}, p.exploded...)
	}
	if qualify != "" {
		out.query = out.query.Filter(gpuframe.Col(qualify))
	}
	all := slices.Concat(out.columns, out.carried)
	switch {
	case b.Distinct != nil && len(on) > 0:
		if len(keys) > 0 {
			out.query = out.query.Sort(keys...)
		}
		for _, c := range out.carried {
			on = append(on, c.id)
		}
		out.query = out.query.Distinct(on...)
	case b.Distinct != nil:
		out.query = out.query.Select(cols(all)).Distinct()
	}
	t.limited(&out, q, keys)
	if len(p.list) > len(all) && (b.Distinct == nil || len(on) > 0) || len(out.carried) > 0 && (q.Limit != nil || q.Offset != nil) {
		out.query = out.query.Select(cols(all))
	}
	return out
}

// itemValue returns the value of an item.
func (t *translation) itemValue(s *scope, i item) value {
	if i.column == nil {
		return t.expr(s, i.expr)
	}
	if s.group == nil {
		return i.column.value()
	}
	key, ok := s.group.columns[i.column]
	if !ok {
		t.fail(i.expr, "column %q of * must be in GROUP BY or within an aggregate", i.name)
	}
	return key.value()
}

// sortColumns returns the keys of ORDER BY: columns of the result, or more columns of the projection.
func (t *translation) sortColumns(s *scope, p *projection, columns []*column, b *tree.Select, q *tree.Query) (keys []gpuframe.Ordering) {
	if q.OrderBy == nil {
		return nil
	}
	s.clause = "ORDER BY"
	if q.OrderBy.All {
		return orderOfAll(columns, q.OrderBy)
	}
	for _, key := range q.OrderBy.Keys {
		before := len(p.list)
		c := t.outputColumn(s, p, columns, key.Expr)
		if len(p.list) > before && b.Distinct != nil && len(b.Distinct.On) == 0 {
			t.fail(key.Expr, "with DISTINCT, ORDER BY can only have expressions of the SELECT list")
		}
		keys = append(keys, ordering(c, key))
	}
	return keys
}

// orderOfAll returns the keys of ORDER BY ALL.
func orderOfAll(columns []*column, o *tree.OrderBy) (keys []gpuframe.Ordering) {
	for _, c := range columns {
		keys = append(keys, ordering(c, o.Keys[0]))
	}
	return keys
}

// outputColumn returns the column of the result that an expression is, by its position, its alias, or because
// it is the same; or another column of the projection.
func (t *translation) outputColumn(s *scope, p *projection, columns []*column, e tree.Expr) *column {
	if c, ok := t.positioned(e, columns); ok {
		return c
	}
	if named, ok := e.(*tree.Column); ok && len(named.Name) == 1 {
		for i, each := range s.aliases {
			if each.given && strings.EqualFold(each.name, named.Name[0].Text) {
				return columns[i]
			}
		}
	}
	print := t.fingerprint(s, e)
	for i, each := range s.aliases {
		if each.column == nil && t.fingerprint(s, each.expr) == print {
			return columns[i]
		}
		if each.column != nil && print == t.columnPrint(each.column) {
			return columns[i]
		}
	}
	return t.addTo(p, t.expr(s, e), "order")
}
