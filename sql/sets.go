package sql

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// setOperation translates UNION, INTERSECT and EXCEPT. A chain of one operation is a loop, not a recursion.
func (t *translation) setOperation(s *scope, b *tree.SetOperation) output {
	chain := []*tree.SetOperation{b}
	for {
		left, ok := chain[len(chain)-1].Left.(*tree.SetOperation)
		if !ok {
			break
		}
		chain = append(chain, left)
	}
	out := t.body(s, chain[len(chain)-1].Left)
	for _, operation := range slices.Backward(chain) {
		out = t.combined(operation, out, t.body(s, operation.Right))
	}
	return out
}

// pair is the columns of both sides that become one. With BY NAME one of them may be nil.
type pair struct{ left, right *column }

// pairs returns the columns of both sides in their order, or by their names.
func (t *translation) pairs(at *tree.SetOperation, left, right []*column) (list []pair) {
	if !at.ByName {
		if len(left) != len(right) {
			t.fail(at, "the left side has %d columns, the right side %d", len(left), len(right))
		}
		for i := range left {
			list = append(list, pair{left[i], right[i]})
		}
		return list
	}
	if at.Kind != tree.Union {
		t.fail(at, "BY NAME is supported for UNION only: list the columns in the same order")
	}
	rest := slices.Clone(right)
	for _, l := range left {
		p := pair{left: l}
		isSame := func(r *column) bool { return strings.EqualFold(r.name, l.name) }
		if i := slices.IndexFunc(rest, isSame); i >= 0 {
			p.right = rest[i]
			rest = slices.Delete(rest, i, i+1)
		}
		list = append(list, p)
	}
	for _, r := range rest {
		list = append(list, pair{right: r})
	}
	return list
}

// valueOr returns the value of a column, or null without one.
func valueOr(c *column) value {
	if c == nil {
		return value{null: true, uses: columnSet{}}
	}
	return c.value()
}

// isNullColumn reports whether all values of a column of a set operation are null without a type.
func isNullColumn(c *column) bool { return c == nil || c.isNull }

// alikeRows returns two values with the type of the rows of a set operation: text if one of them is.
func (t *translation) alikeRows(at tree.Node, a, b value) []value {
	if a.dataType != nil && b.dataType != nil && (isList(a.dataType) != isList(b.dataType) || isStruct(a.dataType) != isStruct(b.dataType)) {
		t.fail(at, "a column is %s on the left side and %s on the right: cast one of them", typeName(a.dataType), typeName(b.dataType))
	}
	if a.dataType == nil || b.dataType == nil || isNested(a.dataType) || isNested(b.dataType) || isText(a.dataType) == isText(b.dataType) {
		return t.alikeTypes(at, a, b)
	}
	return []value{t.asText(at, a), t.asText(at, b)}
}

// orderOfSets returns the column of a set operation that a key of ORDER BY names, also by a name of the right side.
func (t *translation) orderOfSets(e tree.Expr, columns []*column) *column {
	if c, ok := t.positioned(e, columns); ok {
		return c
	}
	named, ok := e.(*tree.Column)
	if !ok || len(named.Name) > 1 || slices.ContainsFunc(columns, func(c *column) bool { return strings.EqualFold(c.name, named.Name[0].Text) }) {
		return nil
	}
	isSame := func(name string) bool { return strings.EqualFold(name, named.Name[0].Text) }
	i := slices.IndexFunc(columns, func(c *column) bool { return slices.ContainsFunc(c.others, isSame) })
	if i < 0 {
		return nil
	}
	return columns[i]
}

// combined combines the rows of two queries. Columns have the names of the left one, and the type of both.
func (t *translation) combined(at *tree.SetOperation, left, right output) output {
	out := output{}
	var l, r []gpuframe.Expression
	for _, p := range t.pairs(at, left.columns, right.columns) {
		both := t.alikeRows(at, valueOr(p.left), valueOr(p.right))
		c := cmp.Or(p.left, p.right)
		out.columns = append(out.columns, &column{table: c.table, name: c.name, id: t.unique(c.name), dataType: both[0].dataType, isNull: isNullColumn(p.left) && isNullColumn(p.right)})
		if p.left != nil && p.right != nil {
			out.columns[len(out.columns)-1].others = append(slices.Clip(p.left.others), p.right.name)
		}
		id := out.columns[len(out.columns)-1].id
		l, r = append(l, both[0].expr.As(id)), append(r, both[1].expr.As(id))
	}
	for i, c := range left.carried {
		out.carried = append(out.carried, &column{id: t.unique("dependence"), dataType: c.dataType})
		id := out.carried[i].id
		same := t.convert(at, right.carried[i].value(), c.dataType)
		l, r = append(l, gpuframe.Col(c.id).As(id)), append(r, same.expr.As(id))
	}
	a, b := left.query.Select(l), right.query.Select(r)
	switch {
	case at.Kind == tree.Union && at.All:
		out.query = a.Union(b)
	case at.Kind == tree.Union:
		out.query = a.Union(b).Distinct()
	case at.Kind == tree.Intersect && at.All:
		out.query = a.IntersectAll(b)
	case at.Kind == tree.Intersect:
		out.query = a.Intersect(b)
	case at.All:
		out.query = a.ExceptAll(b)
	default:
		out.query = a.Except(b)
	}
	return out
}

// values translates VALUES as a union of rows.
func (t *translation) values(s *scope, b *tree.Values) output {
	if s.dependence != nil {
		t.fail(b, "VALUES in a subquery that depends on the rows around it is not supported")
	}
	if s.outer != nil && s.foreign == nil {
		s = &scope{}
	}
	const most = 1000
	if len(b.Rows) > most {
		t.fail(b, "VALUES has %d rows, at most %d are supported: register the rows as a query", len(b.Rows), most)
	}
	inner := &scope{outer: s.outer, foreign: s.foreign, rows: &relation{query: t.oneRow()}, clause: "VALUES"}
	byColumn := make([][]value, len(b.Rows[0]))
	for _, row := range b.Rows {
		if len(row) != len(byColumn) {
			t.fail(b, "a row of VALUES has %d values, the first one %d", len(row), len(byColumn))
		}
		for i, e := range row {
			byColumn[i] = append(byColumn[i], t.expr(inner, e))
		}
	}
	out := output{isSingle: len(b.Rows) == 1}
	for i := range byColumn {
		byColumn[i] = t.alike(b, byColumn[i])
		name := "col" + string(rune('0'+i%10))
		if i > 9 {
			name = "col" + string(rune('0'+i/10%10)) + string(rune('0'+i%10))
		}
		out.columns = append(out.columns, &column{name: name, id: t.unique(name), dataType: byColumn[i][0].dataType})
	}
	parts := make([]gpuframe.Query, len(b.Rows))
	for n := range b.Rows {
		list := make([]gpuframe.Expression, len(byColumn))
		for i := range byColumn {
			list[i] = byColumn[i][n].expr.As(out.columns[i].id)
		}
		parts[n] = inner.rows.query.Select(list)
	}
	out.query = parts[0]
	if len(parts) > 1 {
		out.query = parts[0].Union(parts[1:]...)
	}
	return out
}
