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

// unnestedItem translates unnest as an item of SELECT: a row for each element of a list. exploded gets the column of a
// list, whose rows follow when the columns are computed.
func (t *translation) unnestedItem(s *scope, p *projection, call *tree.Call, name string) *column {
	if c := t.elements(s.rows, call); c != nil {
		return t.addTo(p, c.value(), name)
	}
	if p.exploded != "" {
		t.fail(call, "SELECT has unnest twice, which is not supported: use unnest in FROM for one of them")
	}
	c := t.addTo(p, t.listValue(s, call), name)
	c.dataType, c.bits, p.exploded = c.dataType.(arrow.ListLikeType).Elem(), 0, c.id
	return c
}

// listValue returns the argument of unnest.
func (t *translation) listValue(s *scope, call *tree.Call) value {
	v := t.expr(s, call.Args[0].Expr)
	if _, ok := v.dataType.(arrow.ListLikeType); !ok {
		t.fail(call, "the argument of unnest is %s, expected a list", typeOf(v))
	}
	return v
}

// elements joins rows with the elements of a list of literals. It returns their column, or nil if the argument of
// unnest is another expression.
func (t *translation) elements(rows *relation, call *tree.Call) *column {
	list, ok := call.Args[0].Expr.(*tree.List)
	if !ok || len(list.Items) == 0 {
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

// slice translates x[from:to] with literals: the elements of a list, or the characters of a text, from the first to the
// last one.
func (t *translation) slice(s *scope, e *tree.Slice) value {
	v, from, to := t.expr(s, e.X), 1, 1<<31-1
	if e.Step != nil {
		t.fail(e.Step, "the step of a slice is not supported")
	}
	if e.From != nil {
		from = max(t.whole(e.From, t.expr(s, e.From), "the first element"), 1)
	}
	if e.To != nil {
		to = t.whole(e.To, t.expr(s, e.To), "the last element")
	}
	for _, bound := range []tree.Expr{e.From, e.To} {
		if bound != nil && t.whole(bound, t.expr(s, bound), "a place") < 0 {
			t.fail(bound, "negative places of a slice are not supported: use list_slice or substring")
		}
	}
	length := max(to-from+1, 0)
	if v.null {
		return v
	}
	return t.typed(e, func(list []gpuframe.Expr) gpuframe.Expr {
		if isText(v.dataType) {
			return list[0].Substring(from, length)
		}
		return list[0].ListSlice(from-1, length)
	}, v)
}
