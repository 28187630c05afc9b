package sql

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// limited sorts rows and applies LIMIT and OFFSET: of each value of the dependence.
func (t *translation) limited(out *output, q *tree.Query, keys []gpuframe.Ordering) {
	offset := t.bound(q.Offset, 0)
	if q.Percent && q.Limit != nil {
		t.limitShare(out, q, keys, offset)
		return
	}
	length := t.bound(q.Limit, math.MaxInt64)
	if length == 1 {
		out.isSingle = true
	}
	if len(out.carried) > 0 {
		if q.Limit == nil && q.Offset == nil {
			return
		}
		place := t.unique("place")
		window := gpuframe.By(cols(out.carried)).OrderBy(keys...)
		out.query = out.query.With(gpuframe.RowNumber().Over(window).As(place))
		out.query = out.query.Filter(gpuframe.Col(place).Gt(int64(offset)))
		if length < math.MaxInt64-offset {
			out.query = out.query.Filter(gpuframe.Col(place).Le(int64(offset + length)))
		}
		return
	}
	switch {
	case len(keys) > 0 && q.Limit != nil && length < math.MaxInt64-offset:
		out.query = out.query.Top(offset+length, keys...)
	case len(keys) > 0:
		out.query = out.query.Sort(keys...)
	}
	if q.Limit != nil || q.Offset != nil {
		out.query = out.query.Slice(offset, length)
	}
}

// limitShare applies a limit in percent: the rows are counted, and their numbers compared with it.
func (t *translation) limitShare(out *output, q *tree.Query, keys []gpuframe.Ordering, offset int64) {
	if len(out.carried) > 0 {
		t.fail(q.Limit, "a limit in percent of a subquery that depends on the rows around it is not supported: write a number of rows")
	}
	percent := t.float(q.Limit, t.expr(&scope{rows: &relation{}, clause: "LIMIT"}, q.Limit), "the limit in percent")
	if !(percent >= 0 && percent <= 100) {
		t.fail(q.Limit, "the limit is %v percent, expected 0 to 100", percent)
	}
	if len(keys) > 0 {
		out.query = out.query.Sort(keys...)
	}
	place, rows := t.unique("place"), t.unique("rows")
	out.query = out.query.WithRowNumber(place).With(gpuframe.Count().Over(gpuframe.By()).As(rows))
	number := gpuframe.Col(place).Sub(offset)
	share := gpuframe.Col(rows).Cast(floatType).Mul(percent / 100).Floor()
	out.query = out.query.Filter(number.Ge(int64(0)).And(number.Cast(floatType).Lt(share))).Drop(place, rows)
}

// bound returns the number of LIMIT or OFFSET. Other expressions than literals, which have no columns, are computed now.
func (t *translation) bound(e tree.Expr, without int64) int64 {
	if e == nil {
		return without
	}
	if l, ok := e.(*tree.Column); ok && len(l.Name) == 1 {
		t.fail(e, "the number of rows is a name, expected an integer")
	}
	s := &scope{rows: &relation{query: t.oneRow()}, clause: "LIMIT"}
	v := t.expr(s, e)
	if v.null {
		return without
	}
	if v.constant == nil && isInteger(v.dataType) {
		if isForSchema(t.ctx) {
			return without
		}
		t.isVolatile = true
		v = t.cast(e, v, int64Type)
		n := t.single(e, s.rows.query.Select(v.expr.As("rows")), func(a arrow.Array) any { return a.(*array.Int64).Value(0) })
		if n == nil {
			return without
		}
		v = constant(n)
	}
	n, ok := v.constant.(int64)
	if !ok || n < 0 {
		t.fail(e, "the number of rows is not an integer of zero or more")
	}
	return n
}
