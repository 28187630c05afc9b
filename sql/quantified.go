package sql

import (
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// quantified translates a comparison with ANY or ALL rows of a query.
func (t *translation) quantified(s *scope, e *tree.Quantified) value {
	if e.Query == nil {
		t.fail(e, "a comparison with ANY or ALL elements of a list is not supported")
	}
	row, isRow := e.X.(*tree.Row)
	switch {
	case isRow && e.Op == "=" && !e.All:
		return t.rowIn(s, &tree.In{Position: e.Position, X: row, Query: e.Query}, row)
	case isRow && e.Op == "<>" && e.All:
		return t.not(e, t.rowIn(s, &tree.In{Position: e.Position, X: row, Query: e.Query}, row))
	case isRow:
		return t.compareRow(s, e, row)
	case e.Op == "=" && !e.All:
		return t.inQuery(s, e, e.X, e.Query)
	case e.Op == "<>" && e.All:
		return t.not(e, t.inQuery(s, e, e.X, e.Query))
	}
	return t.bounded(s, e)
}

// opposites are the comparisons that are true if others are false.
var opposites = map[string]string{"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// compareRow translates a comparison of a row with ANY or ALL rows of a query as EXISTS: ALL is not ANY of the opposite.
// Orders of rows are never null. Of rows with nulls it may be unknown whether they differ.
func (t *translation) compareRow(s *scope, e *tree.Quantified, row *tree.Row) value {
	t.requireColumns(s, e, e.Query, row)
	op := e.Op
	if e.All {
		op = opposites[op]
	}
	exists := func(isPossible bool) value {
		return t.expr(s, existsWhere(e.Position, e.Query, len(row.Items), func(columns []tree.Expr) tree.Expr {
			if op != "<>" {
				return &tree.Binary{Position: e.Position, Op: op, X: row, Y: &tree.Row{Position: e.Position, Items: columns}}
			}
			differ := &tree.Logic{Position: e.Position, Or: true}
			for i, item := range row.Items {
				differ.Terms = append(differ.Terms, &tree.Binary{Position: e.Position, Op: op, X: item, Y: columns[i]})
			}
			if isPossible {
				return &tree.Is{Position: e.Position, X: differ, State: tree.IsFalse, Not: true}
			}
			return differ
		}))
	}
	result := exists(false)
	if op == "<>" {
		result = t.cases(e, []value{result, exists(true)}, []value{constant(true), {null: true, uses: columnSet{}}, constant(false)})
	}
	if e.All {
		return t.not(e, result)
	}
	return result
}

// bounded compares with the least or the greatest row of a query, which decides for all or for any: = ALL and <> ANY
// with both.
func (t *translation) bounded(s *scope, e *tree.Quantified) value {
	x := t.settled(t.expr(s, e.X))
	out, keys := t.subquery(s, e.Query, false)
	if len(out.columns) != 1 {
		t.fail(e, "the subquery has %d columns, expected 1", len(out.columns))
	}
	y := out.columns[0]
	counts := t.counted(s, out, y, keys)
	least, greatest := &column{id: t.unique("least"), dataType: y.dataType, isNull: y.isNull}, &column{id: t.unique("greatest"), dataType: y.dataType, isNull: y.isNull}
	groups := grouped(out.query, out.carried, []gpuframe.Expression{
		gpuframe.Col(y.id).Min().As(least.id), maximum(gpuframe.Col(y.id), isFloat(y.dataType)).As(greatest.id),
	})
	if len(keys) == 0 {
		s.rows.query = s.rows.query.Join(groups, gpuframe.Cross)
	} else {
		s.rows.query = t.joinOn(s.rows.query, groups, gpuframe.Left, keys, out.carried)
	}
	var compared value
	switch {
	case e.Op == "=" || e.Op == "<>":
		compared = t.logic(e, e.Op == "<>", []value{t.binary(e, e.Op, x, least.value()), t.binary(e, e.Op, x, greatest.value())})
	case strings.HasPrefix(e.Op, ">") != e.All:
		compared = t.binary(e, e.Op, x, least.value())
	default:
		compared = t.binary(e, e.Op, x, greatest.value())
	}
	// Any: true if the bound meets the comparison. All: false if it does not. Else nulls make it unknown.
	decisive := compared
	if e.All {
		decisive = t.not(e, compared)
	}
	empty := t.typed(e, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].FillNull(int64(0)).Eq(int64(0)) }, counts[0].value())
	nulls := t.typed(e, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Lt(list[1]) }, counts[1].value(), counts[0].value())
	unknown := t.logic(e, true, []value{nulls, t.isNull(e, x)})
	return t.cases(e, []value{empty, decisive, unknown}, []value{constant(e.All), constant(!e.All), {null: true, uses: columnSet{}}, constant(e.All)})
}
