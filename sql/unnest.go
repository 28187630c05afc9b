package sql

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// unnestOf returns an expression as a call of unnest, or nil.
func unnestOf(e tree.Expr) *tree.Call {
	if call, ok := e.(*tree.Call); ok && strings.EqualFold(text(call.Name), "unnest") && len(call.Args) == 1 && call.Over == nil {
		return call
	}
	return nil
}

// unnestedLists returns the lists of the items of SELECT that are unnest, if they are several: the rows have an element
// of each, and null beyond those of a shorter list.
func (t *translation) unnestedLists(s *scope) map[*tree.Call]value {
	lists := map[*tree.Call]value{}
	var longest []value
	for _, i := range s.aliases {
		if call := unnestOf(i.expr); call != nil {
			list := t.listValue(s, call)
			lists[call] = list
			longest = append(longest, t.coalesced(call, t.length(call, list), constant(int64(0))))
		}
	}
	if len(lists) < 2 {
		return nil
	}
	for call, list := range lists {
		n := functions["greatest"].call(t, call, longest)
		lists[call] = t.atPositions(list, t.numbers(call, n))
	}
	return lists
}

// unnestedItem translates unnest as an item of SELECT: a row for each element of a list. exploded gets the column of a
// list, whose rows follow when the columns are computed. lists are those of several items.
func (t *translation) unnestedItem(s *scope, p *projection, call *tree.Call, name string, lists map[*tree.Call]value) *column {
	list, isOneOfSeveral := lists[call]
	if !isOneOfSeveral {
		if c := t.elements(s.rows, call); c != nil {
			return t.addTo(p, c.value(), name)
		}
		list = t.listValue(s, call)
	}
	c := t.addTo(p, list, name)
	c.dataType, c.bits, p.exploded = concreteType(elementOf(c.dataType)), 0, append(p.exploded, c.id)
	return c
}

// listValue returns the argument of unnest.
func (t *translation) listValue(s *scope, call *tree.Call) value {
	v := t.expr(s, call.Args[0].Expr)
	if v.null && v.dataType == nil {
		return t.emptyList(arrow.Null)
	}
	if _, ok := v.dataType.(arrow.ListLikeType); !ok {
		t.fail(call, "the argument of unnest is %s, expected a list", typeOf(v))
	}
	return v
}

// elements joins rows with the elements of a list of literals. It returns their column, or nil if the argument of
// unnest is another expression.
func (t *translation) elements(rows *relation, call *tree.Call) *column {
	list, ok := call.Args[0].Expr.(*tree.List)
	if !ok || len(list.Items) == 0 || t.dependsOnRows(list) {
		return nil
	}
	values := &tree.Values{Position: call.Position}
	for _, e := range list.Items {
		values.Rows = append(values.Rows, []tree.Expr{e})
	}
	out := t.values(&scope{}, values)
	rows.query = rows.query.Join(out.query, gpuframe.Cross)
	return out.columns[0]
}

// dependsOnRows reports whether an expression has a column or an aggregate.
func (t *translation) dependsOnRows(e tree.Expr) (depends bool) {
	walk(e, func(n tree.Node) bool {
		switch n := n.(type) {
		case *tree.Column:
			depends = true
		case *tree.Call:
			depends = depends || n.Over != nil || isAggregate(strings.ToLower(text(n.Name))) || isWindowFunction(strings.ToLower(text(n.Name)))
		}
		return !depends
	})
	return depends
}

// slice translates x[from:to]: the elements of a list, or the characters of a text, from the first to the last one.
func (t *translation) slice(s *scope, e *tree.Slice) value {
	if e.Step != nil {
		t.fail(e.Step, "the step of a slice is not supported")
	}
	v, from, to := t.expr(s, e.X), constant(int64(1)), constant(int64(-1))
	if e.From != nil {
		from = t.expr(s, e.From)
	}
	if e.To != nil {
		to = t.expr(s, e.To)
	}
	return t.sliced(e, v, from, to)
}

// sliced is the elements of a list, or the characters of a text, from one place to another. Negative ones count from the
// end.
func (t *translation) sliced(at tree.Node, v, from, to value) value {
	switch {
	case v.null:
		return v
	case from.null || to.null:
		return t.nullOf(v.dataType)
	case isText(v.dataType):
		return t.slicedText(at, v, t.whole(at, from, "the first character"), t.whole(at, to, "the last character"))
	}
	first, isFirst := from.constant.(int64)
	last, isLast := to.constant.(int64)
	if isFirst && isLast && first >= 0 && last >= -1 {
		first = max(first, 1) - 1
		if last < 0 {
			last = 1<<31 - 1
		}
		return t.listCall(at, func(e gpuframe.Expr) gpuframe.Expr { return e.ListSlice(int(first), int(max(last-first, 0))) }, v)
	}
	unknown := t.logic(at, true, []value{t.isNull(at, from), t.isNull(at, to)})
	from, to = t.elementNumber(at, v, from), t.elementNumber(at, v, to)
	part := t.eachElement(at, v, true, func(_, number value) value {
		return t.logic(at, false, []value{t.binary(at, ">=", number, from), t.binary(at, "<=", number, to)})
	})
	if isFirst && isLast {
		return part
	}
	return t.nullWhere(at, part, unknown)
}

// slicedText is the characters of a text from one place to another, which are literals.
func (t *translation) slicedText(at tree.Node, v value, from, to int) value {
	if from < 0 || to < -1 {
		t.fail(at, "negative places of the characters of a text are not supported: use substring")
	}
	from = max(from, 1)
	if to == -1 {
		to = 1<<31 - 1
	}
	return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].Substring(from, max(to-from+1, 0)) }, v)
}
