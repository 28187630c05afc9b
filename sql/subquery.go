package sql

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// A subquery that refers to columns of the query around it is computed for all their distinct values together,
// and joined to the rows by these (Neumann and Kemper, "Unnesting Arbitrary Queries", 2015). It is translated
// twice: first to collect the columns, then with columns that stand for them.

// subquery translates a query within an expression. keys are the columns of the rows that it depends on.
func (t *translation) subquery(s *scope, q *tree.Query, isScalar bool) (out output, keys []*column) {
	t.nested++
	defer func() { t.nested-- }()
	if t.nested > mostNested {
		t.fail(q, "subqueries are nested deeper than %d levels", mostNested)
	}
	var foreign []*column
	out = t.query(&scope{outer: s, foreign: &foreign}, q)
	if len(foreign) == 0 {
		return out, nil
	}
	for _, c := range foreign {
		if !slices.Contains(keys, c) {
			keys = append(keys, c)
		}
	}
	d := &dependence{query: s.rows.query.Select(cols(keys)).Distinct(), columns: keys, isScalar: isScalar}
	return t.query(&scope{outer: s, dependence: d}, q), keys
}

// lateral joins a query that refers to the tables before it.
func (t *translation) lateral(s *scope, before *tableSet, item *tree.Subquery, kind tree.JoinKind) *tableSet {
	rows := t.assemble(before)
	out, keys := t.subquery(t.below(s, rows, "LATERAL"), item.Query, false)
	named := t.aliased(item, &out.relation, item.Alias, "")
	all := &relation{columns: append(slices.Clone(before.columns), named.columns...)}
	switch {
	case len(keys) > 0:
		all.query = t.joinOn(rows.query, out.query, joinKinds[kind], keys, out.carried)
	case kind == tree.InnerJoin:
		all.query = rows.query.Join(out.query, gpuframe.Cross)
	default:
		all.query = joined(rows.query, out.query, nil, nil, joinKinds[kind], nil)
	}
	return leaf(all)
}

// lateralJoin joins a lateral query by an explicit join.
func (t *translation) lateralJoin(s *scope, before *tableSet, right *tree.Subquery, item *tree.Join) *tableSet {
	kind := item.Kind
	if kind == tree.CrossJoin {
		kind = tree.InnerJoin
	}
	isTrue := false
	if l, ok := item.On.(*tree.Literal); ok {
		isTrue = l.Kind == tree.True
	}
	if kind != tree.InnerJoin && (kind != tree.LeftJoin || !isTrue) || len(item.Using) > 0 || item.Natural {
		t.fail(item, "this join with LATERAL is not supported: use CROSS JOIN LATERAL, or LEFT JOIN LATERAL … ON true")
	}
	joined := t.lateral(s, before, right, kind)
	if item.On != nil && !isTrue {
		joined.conditions = t.conditions(t.below(s, &relation{columns: joined.columns}, "ON"), item.On)
	}
	return joined
}

// existsValue translates EXISTS in an expression.
func (t *translation) existsValue(s *scope, e *tree.Exists) value {
	out, keys := t.subquery(s, e.Query, false)
	if len(keys) == 0 {
		n := &column{id: t.unique("rows"), dataType: int64Type}
		count := out.query.Head(1).Select(gpuframe.Count().As(n.id))
		s.rows.query = s.rows.query.Join(count, gpuframe.Cross)
		return t.typed(e, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Gt(int64(0)) }, n.value())
	}
	flag := t.flagged(s, out.query, keys, out.carried)
	return t.not(e, t.isNull(e, flag.value()))
}

// flagged adds a column to the rows that is true if a query has a row with the same keys, and else null.
func (t *translation) flagged(s *scope, q gpuframe.Query, keys, carried []*column) *column {
	flag := &column{id: t.unique("exists"), dataType: boolType}
	marked := q.Select(cols(carried)).Distinct().With(gpuframe.Lit(true).As(flag.id))
	s.rows.query = t.joinOn(s.rows.query, marked, gpuframe.Left, keys, carried)
	return flag
}

// scalarValue translates a query that is a value.
func (t *translation) scalarValue(s *scope, e *tree.Scalar) value {
	if e.Array {
		return t.arrayOf(s, e)
	}
	if v, ok := t.windowed(s, e); ok {
		return v
	}
	if c, ok := t.scalarAggregate(s, e); ok {
		return c
	}
	out, keys := t.subquery(s, e.Query, true)
	if len(out.columns) != 1 {
		t.fail(e, "the subquery has %d columns, expected 1", len(out.columns))
	}
	c := out.columns[0]
	if out.isSingle && c.isNull {
		return c.value()
	}
	if out.isSingle && len(keys) > 0 {
		s.rows.query = t.joinOn(s.rows.query, out.query, gpuframe.Left, keys, out.carried)
		return c.value()
	}
	return t.onlyRow(s, e, out, keys)
}

// arrayOf translates ARRAY(query): the list of its values in its order.
func (t *translation) arrayOf(s *scope, e *tree.Scalar) value {
	out, keys := t.subquery(s, e.Query, false)
	if len(out.columns) != 1 {
		t.fail(e, "the subquery has %d columns, expected 1", len(out.columns))
	}
	if len(keys) > 0 || out.columns[0].isNull {
		t.fail(e, "ARRAY of a query of the rows around it, or of nulls, is not supported: use list(…) of a join with GROUP BY")
	}
	c := out.columns[0]
	list := &column{id: t.unique("list"), dataType: arrow.ListOf(c.dataType)}
	s.rows.query = s.rows.query.Join(out.query.Select(gpuframe.Col(c.id).List().As(list.id)), gpuframe.Cross)
	return list.value()
}

// onlyRow returns the value of a query that has one row, or none, for each row around it. The run fails if it has more:
// for one of the rows around it, not for others.
func (t *translation) onlyRow(s *scope, e *tree.Scalar, out output, keys []*column) value {
	c := out.columns[0]
	only := &column{id: t.unique(c.name), dataType: c.dataType, bits: c.bits, isNull: c.isNull}
	rows := &column{id: t.unique("rows"), dataType: int64Type}
	list := []gpuframe.Expression{gpuframe.Col(c.id).First().As(only.id), gpuframe.Count().As(rows.id)}
	isOnly := gpuframe.Col(rows.id).FillNull(int64(0)).Le(int64(1))
	failure := &parse.Error{Text: t.text, Position: e.Pos(), Message: "the subquery has several rows: make it one by an aggregate such as max or any_value, or by LIMIT 1"}
	switch {
	case len(keys) > 0:
		groups := grouped(out.query, out.carried, list)
		s.rows.query = t.joinOn(s.rows.query, groups, gpuframe.Left, keys, out.carried).Require(isOnly, failure)
	case out.isSingle:
		s.rows.query = s.rows.query.Join(out.query.Select(list[0]), gpuframe.Cross)
	default:
		row := out.query.Head(2).Select(list).Require(isOnly, failure)
		s.rows.query = s.rows.query.Join(row.Select(gpuframe.Col(only.id)), gpuframe.Cross)
	}
	return only.value()
}

// scalarAggregate translates a subquery of aggregates without GROUP BY that depends on the rows around it. Its
// groups are joined to these rows, and its expression is computed on them: a count without rows is 0.
func (t *translation) scalarAggregate(s *scope, e *tree.Scalar) (v value, ok bool) {
	b := t.aggregateOf(e.Query)
	if b == nil {
		return v, false
	}
	var foreign []*column
	t.query(&scope{outer: s, foreign: &foreign}, e.Query)
	if len(foreign) == 0 {
		return v, false
	}
	var keys []*column
	for _, c := range foreign {
		if !slices.Contains(keys, c) {
			keys = append(keys, c)
		}
	}
	d := &dependence{query: s.rows.query.Select(cols(keys)).Distinct(), columns: keys, isScalar: true}
	rows, carried := t.input(&scope{outer: s, dependence: d}, b)
	rows.aliases = t.items(rows.rows, b.Items)
	groups := t.group(rows, b, &tree.Query{}, carried, d)
	s.rows.query = t.joinOn(s.rows.query, groups.rows.query, gpuframe.Left, keys, carried)
	groups.rows = s.rows
	for i, c := range d.columns {
		groups.group.columns[carried[i]] = c
	}
	t.zeroCounts(groups)
	groups.clause = "SELECT"
	v = t.expr(groups, b.Items[0].Expr)
	if v.null {
		return v, true
	}
	if b.Having != nil {
		condition := t.condition(b.Having, t.expr(groups, b.Having))
		v = t.cases(b, []value{condition}, []value{v, {null: true, uses: columnSet{}}})
	}
	return t.attach(s.rows, v, "subquery").value(), true
}

// inQuery translates IN a query in an expression, with the rule for nulls: without a match, the value is null
// if it or a value of the query is null, and the query has rows.
func (t *translation) inQuery(s *scope, at tree.Node, left tree.Expr, q *tree.Query) value {
	x := t.settled(t.expr(s, left))
	out, keys := t.subquery(s, q, false)
	if len(out.columns) != 1 {
		t.fail(at, "the subquery has %d columns, expected 1", len(out.columns))
	}
	y := out.columns[0]
	both := t.alikeTypes(at, x, y.value())
	xc := t.attach(s.rows, both[0], "value")
	yc := t.attach(&out.relation, both[1], "value")
	counts := t.counted(s, out, yc, keys)
	valid := out.query.Filter(gpuframe.Col(yc.id).IsValid())
	flag := t.flagged(s, valid, append(slices.Clone(keys), xc), append(slices.Clone(out.carried), yc))
	match := t.not(at, t.isNull(at, flag.value()))
	empty := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].FillNull(int64(0)).Eq(int64(0)) }, counts[0].value())
	unknown := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr {
		return list[0].IsNull().Or(list[1].Lt(list[2]))
	}, xc.value(), counts[1].value(), counts[0].value())
	return t.cases(at, []value{match, empty, unknown}, []value{constant(true), constant(false), {null: true, uses: columnSet{}}, constant(false)})
}

// alikeTypes returns two values with a common type.
func (t *translation) alikeTypes(at tree.Node, a, b value) []value {
	if isText(a.dataType) != isText(b.dataType) && !a.isConstant() && !b.isConstant() {
		t.fail(at, "%s cannot be compared with %s: cast one of them", typeName(a.dataType), typeName(b.dataType))
	}
	return t.alike(at, []value{a, b})
}

// counted adds the numbers of rows and of values of a query to the rows. They are null if no row has the keys.
func (t *translation) counted(s *scope, out output, y *column, keys []*column) [2]*column {
	counts := [2]*column{{id: t.unique("rows"), dataType: int64Type}, {id: t.unique("values"), dataType: int64Type}}
	list := []gpuframe.Expression{gpuframe.Count().As(counts[0].id), gpuframe.Col(y.id).Count().As(counts[1].id)}
	groups := grouped(out.query, out.carried, list)
	if len(keys) == 0 {
		s.rows.query = s.rows.query.Join(groups, gpuframe.Cross)
	} else {
		s.rows.query = t.joinOn(s.rows.query, groups, gpuframe.Left, keys, out.carried)
	}
	return counts
}
