package sql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// grouping is the groups of rows, with the columns that expressions of them stand for.
type grouping struct {
	// keys and aggregates are columns of the groups by the fingerprints of expressions.
	keys, aggregates map[string]*column
	// columns are the columns of the groups by those of the rows, for keys that are columns.
	columns map[*column]*column
	// counts are the aggregates that are 0 for no rows.
	counts map[*column]bool
	// order is the fingerprint of the order that aggregates need.
	order string
	// marks has, for rows of grouping sets, a column of 1 for groups in which a key is not grouped.
	marks map[string]*column
}

// grouped returns the column that an expression of groups stands for.
func (t *translation) grouped(s *scope, e tree.Expr) (v value, ok bool) {
	switch e := e.(type) {
	case *tree.Literal, *tree.Parameter, *tree.TypedText, *tree.Interval:
		if s.group.marks == nil { // else the key is null in some groups
			return v, false
		}
	case *tree.Call:
		name := strings.ToLower(text(e.Name))
		if name == "grouping" || name == "grouping_id" {
			return t.groupingValue(s, e), true
		}
		if e.Over == nil && isAggregate(name) {
			c, known := s.group.aggregates[t.fingerprint(s, e)]
			if !known {
				t.fail(e, "aggregate %s is not possible in %s", name, s.clause)
			}
			return c.value(), true
		}
	}
	if c, known := s.group.keys[t.fingerprint(s, e)]; known {
		return c.value(), true
	}
	return v, false
}

// columnPrint returns the fingerprint of a column.
func (t *translation) columnPrint(c *column) string { return fmt.Sprintf("column %q %q", c.id, "") }

// group translates GROUP BY and the aggregates of SELECT, HAVING, QUALIFY and ORDER BY. It returns the scope of
// the groups.
func (t *translation) group(s *scope, b *tree.Select, q *tree.Query, carried []*column, d *dependence) *scope {
	s.clause = "GROUP BY"
	groups := &scope{outer: s.outer, domain: s.domain, foreign: s.foreign, aliases: s.aliases, windows: s.windows, input: s}
	groups.group = &grouping{keys: map[string]*column{}, aggregates: map[string]*column{}, columns: map[*column]*column{}, counts: map[*column]bool{}}
	keys, sets := t.groupKeys(s, b)
	a := aggregation{translation: t, rows: s, groups: groups, keys: slices.Clone(carried)}
	for _, c := range carried {
		groups.group.columns[c] = c
	}
	for _, e := range keys {
		a.addKey(e)
	}
	for _, e := range clauses(b, q) {
		t.eachAggregate(e, a.add)
	}
	for _, i := range s.aliases {
		if i.column == nil {
			t.eachAggregate(i.expr, a.add)
		}
	}
	if a.order != nil { // after the joins that values need, which may lose an order
		s.rows.query = s.rows.query.Sort(a.order...)
	}
	if sets != nil {
		groups.rows = a.sets(sets, len(carried))
	} else {
		groups.rows, groups.block = a.result(a.keys), s.block
	}
	if b.GroupBy == nil && len(carried) > 0 && !d.isScalar {
		t.withEmptyGroups(groups, d, carried)
	}
	return groups
}

// groupKeys returns the keys of GROUP BY, and the sets of their numbers if there are several.
func (t *translation) groupKeys(s *scope, b *tree.Select) (keys []tree.Expr, sets [][]int) {
	if b.GroupBy == nil {
		return nil, nil
	}
	if b.GroupBy.All {
		for _, i := range s.aliases {
			has := false
			t.eachAggregate(i.expr, func(*tree.Call) { has = true })
			if i.column != nil {
				keys = append(keys, &tree.Column{Position: i.expr.Pos(), Name: []tree.Name{{Text: i.column.table}, {Text: i.column.name}}})
			} else if !has && !hasWindow(i.expr) && hasColumn(i.expr) {
				keys = append(keys, i.expr)
			}
		}
		return keys, nil
	}
	k := groupingSets{translation: t, scope: s}
	return k.keys(b.GroupBy.Keys)
}

// hasColumn reports whether an expression has a column or a subquery.
func hasColumn(e tree.Expr) (has bool) {
	walk(e, func(n tree.Node) bool {
		switch n.(type) {
		case *tree.Column, *tree.Query:
			has = true
		}
		return !has
	})
	return has
}

// hasWindow reports whether an expression has a window function. Those of its subqueries are not its own.
func hasWindow(e tree.Expr) (has bool) {
	walk(e, func(n tree.Node) bool {
		if _, isQuery := n.(*tree.Query); isQuery {
			return false
		}
		if c, ok := n.(*tree.Call); ok && c.Over != nil {
			has = true
		}
		return !has
	})
	return has
}

// aggregation collects the keys and the aggregates of groups.
type aggregation struct {
	*translation
	rows, groups *scope
	keys         []*column
	list         []gpuframe.Expression
	columns      []*column
	// distinct are the aggregates of distinct values, quantiles those that are values: both have separate rows.
	distinct  []distinctAggregate
	quantiles []valueQuantile
	// order is the order of the rows that aggregates depend on.
	order []gpuframe.Ordering
	// others are the aggregates of other orders, which have separate rows.
	others []*orderedAggregates
}

// orderedAggregates are aggregates of rows in one order.
type orderedAggregates struct {
	print   string
	order   []gpuframe.Ordering
	list    []gpuframe.Expression
	columns []*column
}

// distinctAggregate is an aggregate of the distinct values of an expression.
type distinctAggregate struct {
	value, filter *column
	// order is the order of the values, or nil.
	order     *tree.OrderKey
	aggregate gpuframe.Expr
	column    *column
}

// addKey adds a key of GROUP BY.
func (a *aggregation) addKey(e tree.Expr) {
	print := a.fingerprint(a.rows, e)
	if _, known := a.groups.group.keys[print]; known {
		return
	}
	v := a.expr(a.rows, e)
	isNull := v.null && v.dataType == nil
	if v = a.settled(v); v.interval != nil {
		a.fail(e, "an interval cannot be a key of groups")
	}
	c := columnOf(v)
	if c == nil || slices.Contains(a.keys, c) {
		c = a.attach(a.rows.rows, v, "key")
		c.isNull = isNull
	} else {
		a.groups.group.columns[c] = c
	}
	a.groups.group.keys[print] = c
	a.keys = append(a.keys, c)
}

// add adds an aggregate.
func (a *aggregation) add(e *tree.Call) {
	print := a.fingerprint(a.rows, e)
	if _, known := a.groups.group.aggregates[print]; known {
		return
	}
	e = a.withinGroup(e)
	name := strings.ToLower(text(e.Name))
	known, _ := aggregateOf(name)
	c := &column{id: a.unique(name)}
	a.groups.group.aggregates[print] = c
	if known.isQuantile {
		a.addQuantile(e, c)
		return
	}
	if e.Distinct && !known.once && name != "count" {
		a.addDistinct(e, c)
		return
	}
	var other *orderedAggregates
	if e.OrderBy != nil && (known.ordered || known.sortable) {
		other = a.orderBy(e)
	}
	v := a.aggregateValue(a.rows, e)
	if v.null {
		*c = column{isNull: true}
		return
	}
	c.dataType = v.dataType
	a.groups.group.counts[c] = known.counts
	if other != nil {
		other.list, other.columns = append(other.list, v.expr.As(c.id)), append(other.columns, c)
		return
	}
	a.list, a.columns = append(a.list, v.expr.As(c.id)), append(a.columns, c)
}

// orderBy sets the order of the rows for an aggregate that depends on it. It returns the aggregates of that order if it
// is not the first one.
func (a *aggregation) orderBy(e *tree.Call) *orderedAggregates {
	var keys []gpuframe.Ordering
	for _, key := range a.orderKeys(e.OrderBy) {
		keys = append(keys, ordered(a.settled(a.expr(a.rows, key.Expr)).expr, key))
	}
	print := a.orderPrint(e.OrderBy)
	switch {
	case a.order == nil:
		a.groups.group.order, a.order = print, keys
		return nil
	case a.groups.group.order == print:
		return nil
	}
	i := slices.IndexFunc(a.others, func(o *orderedAggregates) bool { return o.print == print })
	if i < 0 {
		i, a.others = len(a.others), append(a.others, &orderedAggregates{print: print, order: keys})
	}
	return a.others[i]
}

func (a *aggregation) orderPrint(o *tree.OrderBy) string {
	var parts []string
	for _, key := range o.Keys {
		parts = append(parts, fmt.Sprint(a.fingerprint(a.rows, key.Expr), key.Descending, key.Nulls))
	}
	return strings.Join(parts, ", ")
}

// addDistinct adds an aggregate of distinct values.
func (a *aggregation) addDistinct(e *tree.Call, c *column) {
	plain := *e
	plain.Distinct, plain.Filter, plain.OrderBy = false, nil, nil
	d := distinctAggregate{column: c}
	if len(e.Args) == 0 {
		a.fail(e, "%s with DISTINCT has no argument", text(e.Name))
	}
	if e.OrderBy != nil {
		d.order = a.orderOfDistinct(e)
	}
	d.value = a.attach(a.rows.rows, a.settled(a.expr(a.rows, e.Args[0].Expr)), "value")
	if e.Filter != nil {
		d.filter = a.attach(a.rows.rows, a.condition(e.Filter, a.expr(a.rows, e.Filter)), "filter")
	}
	v := a.ofColumn(&plain, d.value)
	d.aggregate, c.dataType = v.expr, v.dataType
	a.distinct = append(a.distinct, d)
}

// orderOfDistinct returns the order of distinct values, which is one by the values.
func (a *aggregation) orderOfDistinct(e *tree.Call) *tree.OrderKey {
	keys := a.orderKeys(e.OrderBy)
	if len(keys) != 1 || a.fingerprint(a.rows, keys[0].Expr) != a.fingerprint(a.rows, e.Args[0].Expr) {
		a.fail(e.OrderBy, "DISTINCT with an order by another expression than the argument is not supported: use a derived table")
	}
	return &keys[0]
}

// ofColumn returns an aggregate of a column instead of its first argument.
func (a *aggregation) ofColumn(e *tree.Call, c *column) value {
	named, _ := aggregateOf(strings.ToLower(text(e.Name)))
	list := []value{c.value()}
	for _, other := range e.Args[1:] {
		v := a.expr(a.rows, other.Expr)
		if !v.isConstant() {
			a.fail(e, "%s of DISTINCT pairs is not supported: use a derived table with SELECT DISTINCT", text(e.Name))
		}
		list = append(list, v)
	}
	return named.make(a.translation, e, list)
}

// result returns the groups by some keys, with all aggregates.
func (a *aggregation) result(keys []*column) *relation {
	input := a.rows.rows.query
	groups := &relation{query: grouped(input, keys, a.list), columns: slices.Concat(a.keys, a.columns)}
	for _, o := range a.others {
		groups.query = a.withBranch(groups.query, grouped(input.Sort(o.order...), keys, o.list), keys)
	}
	for _, d := range a.distinct {
		branch := input
		if d.filter != nil {
			branch = branch.Filter(gpuframe.Col(d.filter.id))
		}
		branch = branch.Select(append(cols(keys), gpuframe.Col(d.value.id))).Distinct()
		if d.order != nil {
			branch = branch.Sort(ordering(d.value, *d.order))
		}
		branch = grouped(branch, keys, []gpuframe.Expression{d.aggregate.As(d.column.id)})
		groups.query = a.withBranch(groups.query, branch, keys)
	}
	for _, q := range a.quantiles {
		groups.query = a.withBranch(groups.query, q.rows(a.translation, input, keys), keys)
	}
	return groups
}

// grouped returns the groups of rows. Without keys all rows are one group.
func grouped(q gpuframe.Query, keys []*column, list []gpuframe.Expression) gpuframe.Query {
	switch {
	case len(keys) == 0 && len(list) == 0:
		return q.Select(gpuframe.Count().As("rows of the group"))
	case len(keys) == 0:
		return q.Select(list)
	case len(list) == 0:
		return q.Select(cols(keys)).Distinct()
	}
	return q.GroupBy(cols(keys)).Agg(list...)
}

// withBranch adds the columns of a branch to groups with the same keys.
func (t *translation) withBranch(groups, branch gpuframe.Query, keys []*column) gpuframe.Query {
	if len(keys) == 0 {
		return groups.Join(branch, gpuframe.Cross)
	}
	return t.joinOn(groups, branch, gpuframe.Left, keys, keys)
}

// joinOn joins by columns that are equal, or both null. The columns of the right side get other names.
func (t *translation) joinOn(left, right gpuframe.Query, kind gpuframe.JoinKind, l, r []*column) gpuframe.Query {
	terms := []gpuframe.JoinTerm{gpuframe.NullsMatch(), gpuframe.AnyOrder()}
	for i := range l {
		id := t.unique("match")
		right = right.Rename(r[i].id, id)
		terms = append(terms, gpuframe.On(gpuframe.Col(l[i].id), gpuframe.Col(id)))
	}
	return left.Join(right, kind, terms...)
}

// withEmptyGroups adds a group for each value of the dependence that has no rows: counts are 0 there.
func (t *translation) withEmptyGroups(groups *scope, d *dependence, carried []*column) {
	values, domain := d.copied(t)
	rows := &relation{query: t.joinOn(values.query, groups.rows.query, gpuframe.Left, values.columns, carried), columns: groups.rows.columns}
	for i, c := range d.columns {
		groups.group.columns[carried[i]] = domain[c]
	}
	groups.rows = rows
	t.zeroCounts(groups)
}

// zeroCounts replaces the nulls of counts by 0.
func (t *translation) zeroCounts(groups *scope) {
	for print, c := range groups.group.aggregates {
		if groups.group.counts[c] {
			v := t.typed(tree.Name{}, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].FillNull(int64(0)) }, c.value())
			groups.group.aggregates[print] = t.attach(groups.rows, v, "count")
		}
	}
}
