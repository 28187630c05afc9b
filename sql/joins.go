package sql

import (
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// joinKinds are the joins that gpuframe has a kind for.
var joinKinds = map[tree.JoinKind]gpuframe.JoinKind{
	tree.LeftJoin: gpuframe.Left, tree.RightJoin: gpuframe.Right, tree.FullJoin: gpuframe.Full,
	tree.SemiJoin: gpuframe.Semi, tree.AntiJoin: gpuframe.Anti, tree.InnerJoin: gpuframe.Inner,
}

// join translates JOIN. Inner joins only collect tables and conditions.
func (t *translation) join(s *scope, item *tree.Join) *tableSet {
	if item.AsOf {
		return t.asOf(s, item)
	}
	if item.Kind == tree.PositionalJoin {
		return t.positional(s, item)
	}
	left := t.tables(s, item.Left)
	if lateral, ok := item.Right.(*tree.Subquery); ok && lateral.Lateral {
		return t.lateralJoin(s, left, lateral, item)
	}
	if item.Kind == tree.CrossJoin || item.Kind == tree.InnerJoin && item.On == nil && len(item.Using) == 0 && !item.Natural {
		return t.after(s, left, item.Right)
	}
	right := t.tables(s, item.Right)
	conditions, columns := t.using(item, left, right)
	both := merged(left, right)
	if item.On != nil {
		if item.Kind != tree.InnerJoin {
			t.refuseSubqueries(item.On, "a condition of an outer, semi or anti join")
		}
		conditions = append(conditions, t.conditions(t.below(s, &relation{columns: both.columns}, "ON"), item.On)...)
	}
	if item.Kind == tree.InnerJoin {
		both.columns, both.conditions = columns, append(both.conditions, conditions...)
		return both
	}
	l, r := t.assemble(left), t.assemble(right)
	query := joined(l.query, r.query, setOf(left.columns), setOf(right.columns), joinKinds[item.Kind], conditions)
	rows := &relation{query: query, columns: columns}
	switch item.Kind {
	case tree.SemiJoin, tree.AntiJoin:
		rows.columns = left.columns
	case tree.FullJoin:
		t.mergeFull(item, rows)
	}
	return leaf(rows)
}

// positional joins rows with equal numbers. Those of the longer side have nulls behind the shorter one.
func (t *translation) positional(s *scope, item *tree.Join) *tableSet {
	left, right := t.assemble(t.tables(s, item.Left)), t.assemble(t.tables(s, item.Right))
	l, r := t.unique("place"), t.unique("place")
	query := left.query.WithRowNumber(l).Join(right.query.WithRowNumber(r), gpuframe.Full, gpuframe.On(gpuframe.Col(l), gpuframe.Col(r)))
	query = query.Sort(gpuframe.Coalesce(gpuframe.Col(l), gpuframe.Col(r)).Asc())
	return leaf(&relation{query: query, columns: slices.Concat(left.columns, right.columns)})
}

// below returns a scope with the rows of a part of FROM, in the place of a scope.
func (t *translation) below(s *scope, r *relation, clause string) *scope {
	inner := *s
	inner.rows, inner.clause, inner.aliases = r, clause, nil
	return &inner
}

// refuseSubqueries fails for an expression with a query in it.
func (t *translation) refuseSubqueries(e tree.Expr, place string) {
	walk(e, func(n tree.Node) bool {
		if q, ok := n.(*tree.Query); ok {
			t.fail(q, "a subquery in %s is not supported: compute it in a derived table, and join that", place)
		}
		return true
	})
}

// using returns the conditions of USING or NATURAL, and the columns of the join: those that both sides share
// stand once, in the place of the left one.
func (t *translation) using(item *tree.Join, left, right *tableSet) (conditions []condition, columns []*column) {
	shared := item.Using
	if item.Natural {
		shared = sharedNames(left, right)
		if len(shared) == 0 {
			t.fail(item, "NATURAL JOIN of tables without a common column: use CROSS JOIN")
		}
	}
	keys := map[*column]*column{}
	for _, name := range shared {
		l, r := t.side(name, left, "left"), t.side(name, right, "right")
		conditions = append(conditions, t.equality(name, l, r))
		if item.Kind == tree.SemiJoin || item.Kind == tree.AntiJoin {
			continue
		}
		key := *l
		if item.Kind == tree.RightJoin {
			key = *r
		}
		key.table, key.name = "", l.name
		if item.Kind == tree.FullJoin {
			key.id = ""
		}
		l.merged, r.merged = true, true
		keys[l] = &key
	}
	for _, c := range slices.Concat(left.columns, right.columns) {
		if key, ok := keys[c]; ok {
			columns = append(columns, key)
		}
		columns = append(columns, c)
	}
	return conditions, columns
}

// equality returns the condition that two columns are equal.
func (t *translation) equality(at tree.Node, l, r *column) condition {
	c := condition{at: at, value: t.binary(at, "=", l.value(), r.value())}
	c.left, c.right = t.keys(at, l.value(), r.value())
	return c
}

// mergeFull computes the columns of USING of a full join: the value of the side that has one.
func (t *translation) mergeFull(item *tree.Join, rows *relation) {
	for _, key := range rows.columns {
		if key.id != "" {
			continue
		}
		var sides []value
		for _, c := range rows.columns {
			if c.merged && strings.EqualFold(c.name, key.name) {
				sides = append(sides, c.value())
			}
		}
		v := t.typed(item, func(list []gpuframe.Expr) gpuframe.Expr { return gpuframe.Coalesce(anys(list)...) }, t.alike(item, sides)...)
		c := t.attach(rows, v, key.name)
		key.id, key.dataType = c.id, c.dataType
	}
}

// sharedNames returns the names that both sides have.
func sharedNames(left, right *tableSet) (shared []tree.Name) {
	for _, l := range left.columns {
		isSame := func(r *column) bool { return !r.merged && strings.EqualFold(l.name, r.name) }
		if !l.merged && slices.ContainsFunc(right.columns, isSame) {
			shared = append(shared, tree.Name{Text: l.name})
		}
	}
	return shared
}

// side returns the column of USING on one side.
func (t *translation) side(name tree.Name, tables *tableSet, which string) *column {
	c := t.among(&relation{columns: tables.columns}, name, []tree.Name{name})
	if c == nil {
		candidates := make([]string, len(tables.columns))
		for i, each := range tables.columns {
			candidates[i] = each.name
		}
		t.fail(name, "%s on the %s side of the join", names.Unknown("column", name.Text, candidates), which)
	}
	return c
}

// conditions translates a condition as a list of terms that must all be true.
func (t *translation) conditions(s *scope, e tree.Expr) (list []condition) {
	for _, term := range conjuncts(e) {
		list = append(list, t.term(s, term))
	}
	return list
}

// conjuncts returns the terms of AND. A term of OR is preceded by those that all its branches have, which can
// be keys of joins.
func conjuncts(e tree.Expr) (list []tree.Expr) {
	if l, ok := e.(*tree.Logic); ok && l.Or {
		return append(common(l), e)
	}
	if l, ok := e.(*tree.Logic); ok && !l.Or {
		for _, term := range l.Terms {
			list = append(list, conjuncts(term)...)
		}
		return list
	}
	if e == nil {
		return nil
	}
	return []tree.Expr{e}
}

// common returns the terms that all branches of OR have.
func common(or *tree.Logic) (list []tree.Expr) {
	for i, branch := range or.Terms {
		terms := map[string]tree.Expr{}
		for _, term := range conjuncts(branch) {
			terms[parse.Format(term)] = term
		}
		if i == 0 {
			for _, term := range conjuncts(branch) {
				if !hasSubquery(term) {
					list = append(list, term)
				}
			}
			continue
		}
		list = slices.DeleteFunc(list, func(term tree.Expr) bool { return terms[parse.Format(term)] == nil })
		if len(list) == 0 {
			return nil
		}
	}
	return list
}

// equality returns a term that is an equality of two values.
func equality(e tree.Expr) (b *tree.Binary, ok bool) {
	if b, ok = e.(*tree.Binary); !ok || b.Op != "=" {
		return nil, false
	}
	_, areRows := rowsOf(b.X, b.Y)
	return b, !areRows
}

// term translates a term of a condition.
func (t *translation) term(s *scope, e tree.Expr) condition {
	if b, ok := equality(e); ok && s.group == nil {
		x, y := t.expr(s, b.X), t.expr(s, b.Y)
		c := condition{at: e, value: t.binary(e, "=", x, y)}
		c.left, c.right = t.keys(e, x, y)
		return c
	}
	c := condition{at: e, value: t.condition(e, t.expr(s, e))}
	if l, ok := e.(*tree.Logic); ok && l.Or && s.group == nil && len(c.value.uses) > 1 && !hasSubquery(e) {
		for _, alternative := range l.Terms {
			var terms []value
			for _, term := range conjuncts(alternative) {
				terms = append(terms, t.condition(term, t.expr(s, term)))
			}
			c.alternatives = append(c.alternatives, terms)
		}
	}
	return c
}

// keys returns two values as the keys of a join, or nil if they are none. Numbers of different kinds, lists and
// structs get one type.
func (t *translation) keys(at tree.Node, x, y value) (left, right *value) {
	both := t.unified(at, x, y)
	if both[0].null || both[1].null {
		return nil, nil
	}
	x, y = both[0], both[1]
	if isDecimal(x.dataType) != isDecimal(y.dataType) || isFloat(x.dataType) != isFloat(y.dataType) || isNested(x.dataType) {
		both = t.alike(at, both)
	}
	return &both[0], &both[1]
}

// assemble joins tables by their conditions: each table to those that an equality connects it with. The
// engine decides the order in which the joins run.
func (t *translation) assemble(tables *tableSet) *relation {
	rest := slices.Clone(tables.conditions)
	leaves := slices.Clone(tables.leaves)
	ids := make([]columnSet, len(leaves))
	for i, l := range leaves {
		ids[i] = t.columnsOf(tables, l)
		rest = t.filterBy(&leaves[i], rest, ids[i])
	}
	rows, known := leaves[0], ids[0]
	for len(leaves) > 1 {
		next := 1 + t.connected(known, ids[1:], rest)
		var terms []condition
		terms, rest = split(rest, func(c condition) bool { return c.equates(known, ids[next]) })
		all := union(known, ids[next])
		others, later := split(rest, func(c condition) bool { return len(c.value.uses) > 0 && c.value.uses.within(all) })
		terms, rest = append(terms, others...), later
		kind := gpuframe.Inner
		if len(terms) == 0 {
			kind = gpuframe.Cross
		}
		rows = &relation{query: joined(rows.query, leaves[next].query, known, ids[next], kind, terms)}
		known = all
		leaves, ids = slices.Delete(slices.Clone(leaves), next, next+1), slices.Delete(slices.Clone(ids), next, next+1)
	}
	rows = &relation{query: rows.query, columns: tables.columns}
	for _, c := range rest {
		rows.query = rows.query.Filter(c.value.expr)
	}
	return rows
}

// columnsOf returns the columns that names refer to in a leaf, which are those of the set with its ids.
func (t *translation) columnsOf(tables *tableSet, l *relation) columnSet {
	set := setOf(l.columns)
	byID := map[string]bool{}
	for _, c := range l.columns {
		byID[c.id] = true
	}
	for _, c := range tables.columns {
		if byID[c.id] {
			set[c] = true
		}
	}
	return set
}

// filterBy keeps the rows of a leaf by the conditions on its columns alone. It returns the others.
func (t *translation) filterBy(l **relation, conditions []condition, columns columnSet) []condition {
	own, rest := split(conditions, func(c condition) bool { return len(c.value.uses) > 0 && c.value.uses.within(columns) })
	for _, c := range rest {
		if v, ok := t.implied(c, columns); ok {
			own = append(own, condition{at: c.at, value: v})
		}
	}
	for _, c := range own {
		*l = &relation{query: (*l).query.Filter(c.value.expr), columns: (*l).columns}
	}
	return rest
}

// implied returns what a term of OR requires of some columns: (a.x = 1 and b.y = 2) or (a.x = 2 and b.y = 1) needs an
// x of 1 or 2.
func (t *translation) implied(c condition, columns columnSet) (v value, ok bool) {
	var any []value
	for _, alternative := range c.alternatives {
		var all []value
		for _, term := range alternative {
			if len(term.uses) > 0 && term.uses.within(columns) {
				all = append(all, term)
			}
		}
		if len(all) == 0 {
			return v, false
		}
		any = append(any, t.logic(c.at, false, all))
	}
	if len(any) == 0 {
		return v, false
	}
	return t.logic(c.at, true, any), true
}

// connected returns the place of the first set that an equality connects with the known columns, or 0.
func (t *translation) connected(known columnSet, sets []columnSet, conditions []condition) int {
	for i, set := range sets {
		if slices.ContainsFunc(conditions, func(c condition) bool { return c.equates(known, set) }) {
			return i
		}
	}
	for i, set := range sets {
		all := union(known, set)
		if slices.ContainsFunc(conditions, func(c condition) bool { return c.value.uses.meets(set) && c.value.uses.within(all) }) {
			return i
		}
	}
	return 0
}

// equates reports whether the condition is an equality between values of two sets.
func (c condition) equates(a, b columnSet) bool {
	if c.left == nil || len(c.left.uses) == 0 || len(c.right.uses) == 0 {
		return false
	}
	return c.left.uses.within(a) && c.right.uses.within(b) || c.left.uses.within(b) && c.right.uses.within(a)
}

func union(a, b columnSet) columnSet {
	both := columnSet{}
	both.add(a)
	both.add(b)
	return both
}

// split divides conditions into those of a kind and the others.
func split(list []condition, belongs func(c condition) bool) (own, rest []condition) {
	for _, c := range list {
		if belongs(c) {
			own = append(own, c)
		} else {
			rest = append(rest, c)
		}
	}
	return own, rest
}

// joined joins two queries with the columns of each. Each condition is an equality of both sides or another
// condition on matches.
func joined(left, right gpuframe.Query, l, r columnSet, kind gpuframe.JoinKind, conditions []condition) gpuframe.Query {
	terms := []gpuframe.JoinTerm{gpuframe.AnyOrder()}
	hasKey := false
	for _, c := range conditions {
		hasKey = hasKey || c.equates(l, r)
		switch {
		case !c.equates(l, r):
			terms = append(terms, gpuframe.Matching(c.value.expr))
		case c.left.uses.within(l):
			terms = append(terms, gpuframe.On(c.left.expr, c.right.expr))
		default:
			terms = append(terms, gpuframe.On(c.right.expr, c.left.expr))
		}
	}
	if hasKey || kind == gpuframe.Cross {
		return left.Join(right, kind, terms...)
	}
	if kind == gpuframe.Inner {
		return left.Join(right, gpuframe.Cross, gpuframe.AnyOrder()).Filter(filters(conditions)...)
	}
	if len(conditions) > 0 && kind != gpuframe.Right && kind != gpuframe.Full {
		return left.Join(right, kind, terms...)
	}
	unit := gpuframe.LitOf(int64Type, int64(1)) // the join needs a key
	return left.Join(right, kind, append(terms, gpuframe.On(unit, unit))...)
}

// filters returns the expressions of conditions.
func filters(conditions []condition) []gpuframe.Expression {
	list := make([]gpuframe.Expression, len(conditions))
	for i, c := range conditions {
		list[i] = c.value.expr
	}
	return list
}
