package sql

import (
	"fmt"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// rowsOf returns two expressions as rows of values, if both are.
func rowsOf(x, y tree.Expr) (rows [2]*tree.Row, ok bool) {
	for i, e := range []tree.Expr{x, y} {
		if rows[i], ok = e.(*tree.Row); !ok {
			return rows, false
		}
	}
	return rows, true
}

// compareRows compares rows: the first pair of values that differ decides. As in DuckDB, null is a value that is greater than all others.
func (t *translation) compareRows(s *scope, at *tree.Binary, x, y *tree.Row) value {
	if len(x.Items) != len(y.Items) || len(x.Items) == 0 {
		t.fail(at, "a row of %d values is compared with one of %d, expected the same number", len(x.Items), len(y.Items))
	}
	left, right := t.exprs(s, x.Items), t.exprs(s, y.Items)
	switch at.Op {
	case "=", "<>":
		var terms []value
		for i := range left {
			different := t.distinct(at, left[i], right[i])
			if at.Op == "=" {
				different = t.not(at, different)
			}
			terms = append(terms, different)
		}
		return t.logic(at, at.Op == "<>", terms)
	case "<", "<=":
		return t.rowBefore(at, left, right, at.Op == "<=")
	case ">", ">=":
		return t.rowBefore(at, right, left, at.Op == ">=")
	}
	t.fail(at, "operator %s of rows is not supported: use a comparison", at.Op)
	return value{}
}

// rowBefore reports whether a row of values is before another one, or the same if orSame is set.
func (t *translation) rowBefore(at tree.Node, left, right []value, orSame bool) value {
	result := constant(orSame)
	for i := len(left) - 1; i >= 0; i-- {
		isLess := t.coalesced(at, t.binary(at, "<", left[i], right[i]), t.logic(at, false, []value{t.not(at, t.isNull(at, left[i])), t.isNull(at, right[i])}))
		same := t.logic(at, false, []value{t.not(at, t.distinct(at, left[i], right[i])), result})
		result = t.logic(at, true, []value{isLess, same})
	}
	return result
}

// rowIn translates IN with a row of values: the rows are listed, or those of a query.
func (t *translation) rowIn(s *scope, e *tree.In, row *tree.Row) value {
	if e.Query == nil {
		var terms []value
		for _, item := range e.List {
			rows, ok := rowsOf(row, item)
			if !ok {
				t.fail(item, "a value is compared with a row of %d values, expected a row", len(row.Items))
			}
			terms = append(terms, t.compareRows(s, &tree.Binary{Position: e.Position, Op: "="}, rows[0], rows[1]))
		}
		return t.logic(e, true, terms)
	}
	t.requireColumns(s, e, e.Query, row)
	// A row that may be equal, because a value is null, makes the answer null.
	match := t.expr(s, rowExists(e, row, e.Query))
	possible := rowExists(e, row, e.Query)
	where := possible.Query.Body.(*tree.Select).Where.(*tree.Logic)
	for i, term := range where.Terms {
		where.Terms[i] = &tree.Is{Position: e.Position, X: term, State: tree.IsFalse, Not: true}
	}
	return t.cases(e, []value{match, t.expr(s, possible)}, []value{constant(true), {null: true, uses: columnSet{}}, constant(false)})
}

// requireColumns fails for a row that is compared with a query of another number of columns.
func (t *translation) requireColumns(s *scope, e tree.Node, q *tree.Query, row *tree.Row) {
	var foreign []*column
	if out := t.query(&scope{outer: s, foreign: &foreign}, q); len(out.columns) != len(row.Items) {
		t.fail(e, "a row of %d values is compared with a subquery of %d columns, expected the same number", len(row.Items), len(out.columns))
	}
}

// rowExists returns IN of a row and a query as EXISTS with an equality for each value.
func rowExists(at *tree.In, row *tree.Row, q *tree.Query) *tree.Exists {
	return existsWhere(at.Position, q, len(row.Items), func(columns []tree.Expr) tree.Expr {
		where := &tree.Logic{Position: at.Position}
		for i, item := range row.Items {
			where.Terms = append(where.Terms, &tree.Binary{Position: at.Position, Op: "=", X: item, Y: columns[i]})
		}
		return where
	})
}

// existsWhere returns EXISTS of the rows of a query that meet a condition on its columns.
func existsWhere(at tree.Position, q *tree.Query, n int, condition func(columns []tree.Expr) tree.Expr) *tree.Exists {
	alias := tree.Alias{Name: tree.Name{Text: "rows of the query"}}
	var columns []tree.Expr
	for i := range n {
		name := tree.Name{Text: fmt.Sprintf("value %d", i+1)}
		alias.Columns = append(alias.Columns, name)
		columns = append(columns, &tree.Column{Position: at, Name: []tree.Name{alias.Name, name}})
	}
	from := &tree.Subquery{Position: at, Query: q, Alias: alias}
	item := tree.Item{Expr: &tree.Literal{Position: at, Kind: tree.Integer, Text: "1"}}
	body := &tree.Select{Position: at, Items: []tree.Item{item}, From: []tree.Table{from}, Where: condition(columns)}
	return &tree.Exists{Position: at, Query: &tree.Query{Position: at, Body: body}}
}
