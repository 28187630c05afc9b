package sql

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// A frame with EXCLUDE is several frames without it: the rows before those that it leaves out, the rows behind them, and
// what it keeps between. The result is made of those of the frames.

// excluding is one call of a function of a frame with EXCLUDE.
type excluding struct {
	*translation
	scope *scope
	call  *tree.Call
	// frames are the windows of the frames, in their order. Each has rows of its own.
	frames []gpuframe.Window
}

// excludingValue translates a function of a frame with EXCLUDE.
func (t *translation) excludingValue(s *scope, e *tree.Call, name string, window gpuframe.Window, order []gpuframe.Ordering, frame *tree.Frame) value {
	if e.Distinct && name == "count" { // the parts of the frame may have values in common
		t.fail(e, "DISTINCT in count with EXCLUDE is not supported: use a derived table")
	}
	x := excluding{translation: t, scope: s, call: e}
	x.split(window, order, frame)
	combine, ok := map[string]func() value{
		"count": func() value { return x.sum(name) }, "sum": func() value { return x.sum(name) }, "avg": x.mean, "mean": x.mean,
		"min": func() value { return x.folded(name, "least") }, "max": func() value { return x.folded(name, "greatest") },
		"bool_and": func() value { return x.truth(false) }, "bool_or": func() value { return x.truth(true) },
		"first_value": func() value { return x.first(name) }, "first": func() value { return x.first(name) }, "any_value": func() value { return x.first(name) },
		"last_value": func() value { return x.last(name) }, "last": func() value { return x.last(name) },
	}[name]
	if !ok {
		t.fail(frame, "EXCLUDE in a frame of %s is not supported: it is for count, sum, avg, min, max, bool_and, bool_or, first_value, last_value and any_value", name)
	}
	return combine()
}

// split divides the frame.
func (x *excluding) split(window gpuframe.Window, order []gpuframe.Ordering, frame *tree.Frame) {
	if frame.Unit == tree.Range && (frame.Start.Offset != nil || frame.End.Offset != nil) {
		x.fail(frame, "EXCLUDE in a frame of RANGE with offsets is not supported: use GROUPS, or no offset")
	}
	s, over := x.scope, x.call.Over
	low, high := x.frameBound(s, frame.Start), x.frameBound(s, frame.End)
	if frame.Unit == tree.Rows {
		if len(order) == 0 && (low != math.MinInt64 || high != math.MaxInt64) {
			x.fail(over, "a frame of rows needs ORDER BY in its window: without one it depends on chance")
		}
		if frame.Exclude == tree.ExcludeCurrentRow {
			x.around(low, high, func(low, high int64) { x.frames = append(x.frames, window.Rows(low, high)) }, nil)
			return
		}
		if (low != math.MinInt64 || high != 0 && high != math.MaxInt64) && (low != 0 || high != math.MaxInt64) {
			x.fail(frame, "EXCLUDE GROUP and EXCLUDE TIES in a frame of ROWS with offsets are not supported: use GROUPS, or no offset")
		}
	}
	partition := x.partitionOf(s, over)
	peers, groups := partition, partition
	if len(order) > 0 {
		number := gpuframe.Col(x.attach(s.rows, value{expr: gpuframe.DenseRank().Over(window), dataType: int64Type, uses: columnSet{}}, "peers").id)
		peers, groups = x.partitionOf(s, over, number), partition.OrderBy(number.Asc())
	}
	between := func() {
		switch frame.Exclude {
		case tree.ExcludeTies:
			x.frames = append(x.frames, window.Rows(0, 0))
		case tree.ExcludeCurrentRow:
			peers = peers.OrderBy(order...)
			x.frames = append(x.frames, peers.Rows(gpuframe.FirstRow, -1), peers.Rows(1, gpuframe.LastRow))
		}
	}
	x.around(low, high, func(low, high int64) {
		if len(order) > 0 { // else all rows are of one group
			x.frames = append(x.frames, groups.Range(offset(low), offset(high)))
		}
	}, between)
}

// around calls add for the distances before the current row or group, between if the frame has it, and add for those
// behind it.
func (x *excluding) around(low, high int64, add func(low, high int64), between func()) {
	if low < 0 {
		add(low, min(high, -1))
	}
	if between != nil && low <= 0 && high >= 0 {
		between()
	}
	if high > 0 {
		add(max(low, 1), high)
	}
}

// each returns the values of an aggregate or window function for the frames.
func (x *excluding) each(name string) (values []value) {
	call := *x.call
	call.Name = []tree.Name{{Position: x.call.Position, Text: name}}
	var v value
	if f, isPlace := windowFunctions[name]; isPlace {
		v = x.placeValue(x.scope, &call, f, name)
	} else {
		v = x.aggregateOver(x.scope, &call, name)
	}
	if v.null {
		return []value{v}
	}
	return x.over(v)
}

// over returns the values of a function for the frames.
func (x *excluding) over(f value) []value {
	values := []value{x.nullOf(f.dataType)}
	for _, frame := range x.frames {
		v := f
		v.expr = v.expr.Over(frame)
		values = append(values, x.attach(x.scope.rows, v, "window").value())
	}
	return values
}

// sum is the sum of the values that are not null.
func (x *excluding) sum(name string) value {
	values := x.each(name)
	total := values[0]
	for i, v := range values[1:] {
		if i == 0 {
			total = v
			continue
		}
		both := x.binary(x.call, "+", total, v)
		total = x.coalesced(x.call, both, total, v)
	}
	if aggregate, _ := aggregateOf(name); aggregate.counts {
		return x.coalesced(x.call, total, constant(int64(0)))
	}
	return total
}

// mean is the sum by the number of values.
func (x *excluding) mean() value {
	sum, count := x.sum("sum"), x.sum("count")
	if sum.null {
		return x.nullOf(floatType)
	}
	return x.binary(x.call, "/", sum, count)
}

// folded is the least or the greatest of the values.
func (x *excluding) folded(name, function string) value {
	return functions[function].call(x.translation, x.call, x.each(name))
}

// truth is whether all values or one of them are true, without nulls.
func (x *excluding) truth(or bool) value {
	name := "bool_and"
	if or {
		name = "bool_or"
	}
	values := x.each(name)
	truths := make([]value, len(values))
	for i, v := range values {
		truths[i] = x.coalesced(x.call, v, constant(!or))
	}
	hasValue := x.coalesced(x.call, values...)
	return x.cases(x.call, []value{x.isNull(x.call, hasValue)}, []value{x.nullOf(arrow.FixedWidthTypes.Boolean), x.logic(x.call, or, truths)})
}

// first is the value of the first row of the frames.
func (x *excluding) first(name string) value {
	values := x.each(name)
	if x.call.IgnoreNulls || name == "any_value" {
		return x.coalesced(x.call, values...)
	}
	var conditions, results []value
	for i, count := range x.over(value{expr: gpuframe.Count(), dataType: int64Type, uses: columnSet{}}) {
		if i > 0 {
			conditions, results = append(conditions, x.binary(x.call, ">", count, constant(int64(0)))), append(results, values[i])
		}
	}
	if len(results) == 0 {
		return values[0]
	}
	return x.cases(x.call, conditions, append(results, values[0]))
}

// last is the value of the last row of the frames.
func (x *excluding) last(name string) value {
	slices.Reverse(x.frames)
	return x.first(name)
}
