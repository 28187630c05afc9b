package sql

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// output is the rows of a query.
type output struct {
	relation
	// carried are the columns that stand for those of the dependence, in its order.
	carried []*column
	// isSingle is set if there is at most one row for each value of carried.
	isSingle bool
}

// dependence is the values that columns of the query around have: the query inside is computed for each.
type dependence struct {
	query   gpuframe.Query
	columns []*column
	// isScalar is set for subqueries of at most one row. They may leave out values without a row.
	isScalar bool
}

// copied returns the values with columns of other names, and the columns by those of the query around.
func (d *dependence) copied(t *translation) (r *relation, domain map[*column]*column) {
	r, domain = t.copied(&relation{query: d.query, columns: d.columns}, ""), map[*column]*column{}
	for i, c := range d.columns {
		domain[c] = r.columns[i]
	}
	return r, domain
}

// commonTable is a common table expression.
type commonTable struct {
	name string
	rows *relation
}

// query translates a query. The scope has what is around it.
func (t *translation) query(s *scope, q *tree.Query) output {
	t.step(q)
	if q.With != nil {
		before := len(t.common)
		defer func() { t.common = t.common[:before] }()
		for _, c := range q.With.Tables {
			t.addCommon(q.With, c)
		}
	}
	switch body := q.Body.(type) {
	case *tree.Select:
		return t.selection(s, body, q)
	case *tree.Nested:
		if q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
			return t.query(s, body.Query)
		}
	}
	out := t.body(s, q.Body)
	if q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
		return out
	}
	inner := &scope{rows: &out.relation, clause: "ORDER BY of a set operation"}
	var keys []gpuframe.Ordering
	if q.OrderBy != nil && q.OrderBy.All {
		keys = orderOfAll(out.columns, q.OrderBy)
		q = &tree.Query{Position: q.Position, Limit: q.Limit, Offset: q.Offset}
	}
	for _, key := range t.orderKeys(q.OrderBy) {
		v := t.orderOfSets(key.Expr, out.columns)
		if v == nil {
			translated := t.expr(inner, key.Expr)
			v = t.attach(&out.relation, t.settled(translated), "order")
		}
		keys = append(keys, ordering(v, key))
	}
	t.limited(&out, q, keys)
	out.query = out.query.Select(cols(append(out.columns, out.carried...)))
	return out
}

// addCommon translates a common table expression. A query that is used several times runs once.
func (t *translation) addCommon(with *tree.With, c tree.CommonTable) {
	if with.Recursive {
		if rows, ok := t.recursive(c); ok {
			t.common = append(t.common, commonTable{c.Name.Text, rows})
			return
		}
	}
	out := t.query(&scope{}, c.Query)
	rows := t.aliased(c.Name, &out.relation, tree.Alias{Name: c.Name, Columns: c.Columns}, c.Name.Text)
	t.common = append(t.common, commonTable{c.Name.Text, rows})
}

// body translates a body without the clauses behind it.
func (t *translation) body(s *scope, b tree.Body) output {
	switch b := b.(type) {
	case *tree.Select:
		return t.selection(s, b, &tree.Query{Position: b.Position})
	case *tree.Nested:
		return t.query(s, b.Query)
	case *tree.SetOperation:
		return t.setOperation(s, b)
	case *tree.Values:
		return t.values(s, b)
	case tree.Table: // PIVOT and UNPIVOT as statements
		all := []tree.Item{{Expr: &tree.Star{Position: tree.Position(b.Pos())}}}
		return t.selection(s, &tree.Select{Position: tree.Position(b.Pos()), Items: all, From: []tree.Table{b}}, &tree.Query{})
	}
	t.fail(b, "this form of query is not supported")
	return output{}
}

// cols returns columns as expressions.
func cols(columns []*column) []gpuframe.Expression {
	list := make([]gpuframe.Expression, len(columns))
	for i, c := range columns {
		list[i] = gpuframe.Col(c.id)
	}
	return list
}

// orderKeys returns the keys of ORDER BY. ALL has no expressions.
func (t *translation) orderKeys(o *tree.OrderBy) []tree.OrderKey {
	if o == nil {
		return nil
	}
	if o.All {
		t.fail(o, "ORDER BY ALL is not supported here: list the columns")
	}
	return o.Keys
}

// positioned returns the column that a key of ORDER BY names by its position or by its name. The key is an
// expression if both results are nil and false.
func (t *translation) positioned(e tree.Expr, columns []*column) (c *column, ok bool) {
	if l, isLiteral := e.(*tree.Literal); isLiteral && l.Kind == tree.Integer {
		n := t.literal(l).constant
		at, isNumber := n.(int64)
		if !isNumber || at < 1 || at > int64(len(columns)) {
			t.fail(e, "position %s is not one of the %d columns of the result", l.Text, len(columns))
		}
		return columns[at-1], true
	}
	return nil, false
}

// ordering returns a key of a sort.
func ordering(c *column, key tree.OrderKey) gpuframe.Ordering {
	return ordered(gpuframe.Col(c.id), key)
}

func ordered(e gpuframe.Expr, key tree.OrderKey) gpuframe.Ordering {
	o := e.Asc()
	if key.Descending {
		o = e.Desc()
	}
	if key.Nulls == tree.NullsFirst {
		o = o.NullsFirst()
	}
	return o
}
