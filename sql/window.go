package sql

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// windowFunction is a function of the place of a row in its window: of least to most arguments.
type windowFunction struct {
	least, most int
	make        func(t *translation, at *tree.Call, list []value) value
	// framed is set for functions of the rows of a frame.
	framed bool
	// respects is set for functions that IGNORE NULLS has a meaning for.
	respects bool
}

var windowFunctions map[string]windowFunction

func init() { // the functions refer to the table
	windowFunctions = map[string]windowFunction{
		"row_number":   {make: rank(gpuframe.RowNumber)},
		"rank":         {make: rank(gpuframe.Rank)},
		"dense_rank":   {make: rank(gpuframe.DenseRank)},
		"rank_dense":   {make: rank(gpuframe.DenseRank)},
		"percent_rank": {make: share(gpuframe.PercentRank)},
		"cume_dist":    {make: share(gpuframe.CumulativeDistribution)},
		"ntile": {least: 1, most: 1, make: func(t *translation, at *tree.Call, list []value) value {
			return value{expr: gpuframe.Tile(t.whole(at, list[0], "the number of parts")), dataType: int64Type, uses: columnSet{}}
		}},
		"lag":         {least: 1, most: 3, respects: true, make: shifted(gpuframe.Expr.Lag)},
		"lead":        {least: 1, most: 3, respects: true, make: shifted(gpuframe.Expr.Lead)},
		"first_value": {least: 1, most: 1, framed: true, respects: true, make: simple(gpuframe.Expr.First)},
		"last_value":  {least: 1, most: 1, framed: true, respects: true, make: simple(gpuframe.Expr.Last)},
		"qcut": {least: 2, most: 2, make: func(t *translation, at *tree.Call, list []value) value {
			return value{expr: list[0].expr.QCut(t.whole(at, list[1], "the number of bins")), dataType: int64Type, uses: list[0].uses}
		}},
		"rescale": {least: 3, most: 3, make: func(t *translation, at *tree.Call, list []value) value {
			low, high := t.float(at, list[1], "the least value"), t.float(at, list[2], "the greatest value")
			return value{expr: list[0].expr.Rescale(low, high), dataType: floatType, uses: list[0].uses}
		}},
		"nth_value": {least: 2, most: 2, framed: true, respects: true, make: func(t *translation, at *tree.Call, list []value) value {
			n := t.whole(at, list[1], "the number of the row")
			return value{expr: list[0].expr.Nth(n), dataType: list[0].dataType, uses: list[0].uses}
		}},
	}
}

func rank(f func() gpuframe.Expr) func(t *translation, at *tree.Call, list []value) value {
	return func(*translation, *tree.Call, []value) value {
		return value{expr: f(), dataType: int64Type, uses: columnSet{}}
	}
}

func share(f func() gpuframe.Expr) func(t *translation, at *tree.Call, list []value) value {
	return func(*translation, *tree.Call, []value) value {
		return value{expr: f(), dataType: floatType, uses: columnSet{}}
	}
}

// shifted is lag or lead. [translation.shiftedOr] has the third argument.
func shifted(f func(e gpuframe.Expr, n int) gpuframe.Expr) func(t *translation, at *tree.Call, list []value) value {
	return func(t *translation, at *tree.Call, list []value) value {
		n := 1
		if len(list) > 1 {
			n = t.whole(at, list[1], "the number of rows")
		}
		return value{expr: f(list[0].expr, n), dataType: list[0].dataType, uses: list[0].uses}
	}
}

func isWindowFunction(name string) bool {
	_, ok := windowFunctions[name]
	return ok
}

// namedWindows returns the windows of the WINDOW clause by their names in lower case.
func (t *translation) namedWindows(b *tree.Select) map[string]*tree.Window {
	windows := map[string]*tree.Window{}
	for _, w := range b.Windows {
		windows[strings.ToLower(w.Name.Text)] = w.Window
	}
	return windows
}

// windowValue translates a call with OVER.
func (t *translation) windowValue(s *scope, e *tree.Call, name string) value {
	t.refuseInLambda(s, e, "a window function")
	if s.clause != "SELECT" && s.clause != "ORDER BY" && s.clause != "QUALIFY" && s.clause != "DISTINCT ON" {
		t.fail(e, "a window function is not possible in %s: use QUALIFY, or a derived table", s.clause)
	}
	if name == "count_if" || name == "countif" {
		e, name = sumOfTruths(e), "sum"
	}
	window, order, frame := t.window(s, e.Over)
	f, isPlace := windowFunctions[name]
	if t.isEmptyFrame(s, frame) && (f.framed || isAggregate(name)) {
		return t.valueOfNoRows(s, e, f, name)
	}
	if frame != nil && frame.Exclude != tree.ExcludeNothing && (f.framed || isAggregate(name)) {
		return t.excludingValue(s, e, name, window, order, frame)
	}
	var v value
	switch {
	case isPlace:
		v = t.placeValue(s, e, f, name)
	case isAggregate(name):
		v = t.aggregateOver(s, e, name)
	default:
		t.fail(e, "%s is no aggregate and no window function", name)
	}
	if v.null && isAggregate(name) {
		return v
	}
	if isAggregate(name) || f.framed {
		window = t.framed(s, e.Over, window, order, frame)
	}
	v.expr = v.expr.Over(window)
	v = t.attach(s.rows, v, "window").value()
	if isPlace && (name == "lag" || name == "lead") && len(e.Args) > 2 {
		return t.shiftedOr(s, e, v, window)
	}
	return v
}

// sumOfTruths returns count_if of a condition as a sum of ones and zeros, which is null if the condition is for all rows.
func sumOfTruths(e *tree.Call) *tree.Call {
	sum := *e
	sum.Name = []tree.Name{{Position: e.Position, Text: "sum"}}
	if len(e.Args) > 0 {
		condition := e.Args[0].Expr
		branch := func(when tree.Expr, then string) tree.Branch {
			return tree.Branch{When: when, Then: &tree.Literal{Position: e.Position, Kind: tree.Integer, Text: then}}
		}
		sum.Args = slices.Clone(e.Args)
		sum.Args[0].Expr = &tree.Case{Position: e.Position, Branches: []tree.Branch{branch(condition, "1"), branch(&tree.Unary{Position: e.Position, Op: "not", X: condition}, "0")}}
	}
	return &sum
}

// isEmptyFrame reports whether a frame of rows ends before it begins.
func (t *translation) isEmptyFrame(s *scope, frame *tree.Frame) bool {
	return frame != nil && frame.Unit == tree.Rows && t.frameBound(s, frame.Start) > t.frameBound(s, frame.End)
}

// valueOfNoRows translates a function of a frame that has no rows.
func (t *translation) valueOfNoRows(s *scope, e *tree.Call, f windowFunction, name string) value {
	if f.framed {
		return t.nullOf(t.placeValue(s, e, f, name).dataType)
	}
	v := t.aggregateOver(s, e, name)
	if a, _ := aggregateOf(name); a.counts {
		return constant(int64(0))
	}
	return t.nullOf(v.dataType)
}

// aggregateOver translates an aggregate with OVER, without its window.
func (t *translation) aggregateOver(s *scope, e *tree.Call, name string) value {
	if e.OrderBy != nil {
		t.fail(e.OrderBy, "ORDER BY in an aggregate with OVER is not supported: the window has an order")
	}
	if a, _ := aggregateOf(name); e.Distinct && !a.once && name != "count" {
		t.fail(e, "DISTINCT in %s with OVER is not supported: use a derived table", name)
	}
	return t.aggregateValue(s, t.withoutFilter(e, name))
}

// shiftedOr is lag or lead with a value for rows that do not exist.
func (t *translation) shiftedOr(s *scope, e *tree.Call, v value, window gpuframe.Window) value {
	n, without := t.whole(e, t.expr(s, e.Args[1].Expr), "the number of rows"), t.expr(s, e.Args[2].Expr)
	if without.null {
		return v
	}
	if e.IgnoreNulls {
		t.fail(e, "IGNORE NULLS with a default is not supported: use coalesce, if the values are never null")
	}
	if strings.EqualFold(text(e.Name), "lag") {
		n = -n
	}
	place := t.attach(s.rows, value{expr: gpuframe.RowNumber().Over(window), dataType: int64Type}, "place")
	last := t.attach(s.rows, value{expr: gpuframe.Count().Over(t.partitionOf(s, e.Over)), dataType: int64Type}, "rows")
	exists := t.typed(e, func(list []gpuframe.Expr) gpuframe.Expr {
		target := list[0].Add(int64(n))
		return target.Ge(int64(1)).And(target.Le(list[1]))
	}, place.value(), last.value())
	return t.cases(e, []value{exists}, []value{v, without})
}

// withoutFilter returns an aggregate with FILTER as one of CASE: other rows are null.
func (t *translation) withoutFilter(e *tree.Call, name string) *tree.Call {
	if e.Filter == nil {
		return e
	}
	if a, _ := aggregateOf(name); a.ordered && name != "string_agg" { // nulls count: aggregateValue has the condition
		return e
	}
	plain := *e
	plain.Filter, plain.Star = nil, false
	plain.Args = slices.Clone(e.Args)
	var counted tree.Expr = &tree.Literal{Position: e.Position, Kind: tree.Integer, Text: "1"}
	if len(plain.Args) == 0 {
		plain.Args = []tree.Arg{{Expr: counted}}
	}
	plain.Args[0].Expr = &tree.Case{Position: e.Position, Branches: []tree.Branch{{When: e.Filter, Then: plain.Args[0].Expr}}}
	return &plain
}

// placeValue translates a window function.
func (t *translation) placeValue(s *scope, e *tree.Call, f windowFunction, name string) value {
	if e.Filter != nil || e.Distinct || e.OrderBy != nil || e.Star || e.Within != nil {
		t.fail(e, "%s has no DISTINCT, ORDER BY or FILTER: it is no aggregate", name)
	}
	if len(e.Args) < f.least || len(e.Args) > f.most {
		t.fail(e, "%s has %d arguments, expected %s", name, len(e.Args), function{least: f.least, most: f.most}.expected())
	}
	list := make([]value, len(e.Args))
	for i, a := range e.Args {
		list[i] = t.settled(t.expr(s, a.Expr))
		if i == 0 && f.respects && list[i].isConstant() {
			list[i] = t.perRow(s, list[i])
		}
	}
	v := f.make(t, e, list)
	if e.IgnoreNulls {
		if !f.respects {
			t.fail(e, "IGNORE NULLS has no meaning for %s", name)
		}
		v.expr = v.expr.SkipNulls()
	}
	return v
}

// orderOf returns the keys of the order of a window.
func (t *translation) orderOf(s *scope, w *tree.Window) []tree.OrderKey {
	_, keys, _ := t.clausesOf(s, w)
	return t.orderKeys(keys)
}

// clausesOf returns the clauses of a window, those that it lacks from the window that it names.
func (t *translation) clausesOf(s *scope, w *tree.Window) (partition []tree.Expr, keys *tree.OrderBy, frame *tree.Frame) {
	partition, keys, frame = w.Partition, w.OrderBy, w.Frame
	for base, depth := w.Base, 0; base.Text != ""; depth++ {
		named := s.windows[strings.ToLower(base.Text)]
		if named == nil || depth > len(s.windows) {
			t.fail(base, "no window is called %q: define it in WINDOW", base.Text)
		}
		if len(partition) == 0 {
			partition = named.Partition
		}
		if keys == nil {
			keys = named.OrderBy
		}
		if frame == nil {
			frame = named.Frame
		}
		base = named.Base
	}
	return partition, keys, frame
}

// window returns the partitions and the order of OVER, with its keys, and the frame that is written.
func (t *translation) window(s *scope, w *tree.Window) (window gpuframe.Window, order []gpuframe.Ordering, frame *tree.Frame) {
	_, keys, frame := t.clausesOf(s, w)
	for _, key := range t.orderKeys(keys) {
		v := t.settled(t.expr(s, key.Expr))
		if v.isConstant() {
			continue // all rows have the same key
		}
		order = append(order, ordered(v.expr, key))
	}
	return t.partitionOf(s, w).OrderBy(order...), order, frame
}

// framed restricts a window to its frame. Without one in the text it is all rows up to the last with the keys
// of the current row or, without an order, all rows.
func (t *translation) framed(s *scope, w *tree.Window, window gpuframe.Window, order []gpuframe.Ordering, frame *tree.Frame) gpuframe.Window {
	if frame == nil {
		if len(order) == 0 {
			return window
		}
		frame = &tree.Frame{Unit: tree.Range, Start: tree.Bound{Kind: tree.UnboundedPreceding}, End: tree.Bound{Kind: tree.CurrentRow}}
	}
	if frame.Unit == tree.Range && (frame.Start.Offset != nil || frame.End.Offset != nil) {
		return t.rangeOf(s, w, window, frame)
	}
	low, high := t.frameBound(s, frame.Start), t.frameBound(s, frame.End)
	if low == math.MinInt64 && high == math.MaxInt64 {
		return window.Rows(gpuframe.FirstRow, gpuframe.LastRow)
	}
	if frame.Unit == tree.Rows {
		if len(order) == 0 {
			t.fail(w, "a frame of rows needs ORDER BY in its window: without one it depends on chance")
		}
		return window.Rows(low, high)
	}
	if len(order) == 0 {
		// All rows have the same keys.
		return window.Rows(gpuframe.FirstRow, gpuframe.LastRow)
	}
	// Numbers of the distinct keys make frames of RANGE and GROUPS a distance.
	number := t.attach(s.rows, value{expr: gpuframe.DenseRank().Over(window), dataType: int64Type, uses: columnSet{}}, "peers")
	return t.partitionOf(s, w).OrderBy(gpuframe.Col(number.id).Asc()).Range(offset(low), offset(high))
}

// rangeOf restricts a window to the rows with keys at distances from that of the current row.
func (t *translation) rangeOf(s *scope, w *tree.Window, window gpuframe.Window, frame *tree.Frame) gpuframe.Window {
	keys := t.orderOf(s, w)
	if len(keys) != 1 {
		t.fail(frame, "a frame of RANGE with offsets needs ORDER BY one key, not %d", len(keys))
	}
	key := t.expr(s, keys[0].Expr)
	return window.Range(t.distance(s, key, frame.Start), t.distance(s, key, frame.End))
}

// distance returns an end of a frame as a difference of keys, nil without a limit.
func (t *translation) distance(s *scope, key value, b tree.Bound) any {
	if b.Offset == nil {
		if b.Kind == tree.CurrentRow {
			return 0
		}
		return nil
	}
	v, sign := t.expr(s, b.Offset), 1
	if b.Kind == tree.Preceding {
		sign = -1
	}
	switch {
	case isTemporal(key):
		parts := v.interval
		if parts == nil || len(v.uses) > 0 {
			t.fail(b.Offset, "the offset of a frame of times is a literal interval")
		}
		months, _ := parts.months.constant.(int64)
		days, _ := parts.days.constant.(int64)
		microseconds, _ := parts.microseconds.constant.(int64)
		if months < 0 || days < 0 || microseconds < 0 {
			t.fail(b.Offset, "the offset of a frame is negative")
		}
		return window.Interval{Months: sign * int(months), Days: sign * int(days), Duration: time.Duration(sign) * time.Duration(microseconds) * time.Microsecond}
	case isInteger(key.dataType):
		n := t.whole(b.Offset, v, "the offset of a frame of integers")
		if n < 0 {
			t.fail(b.Offset, "the offset of a frame is negative")
		}
		return sign * n
	case isFloat(key.dataType):
		x := t.float(b.Offset, v, "the offset of a frame")
		if x < 0 {
			t.fail(b.Offset, "the offset of a frame is negative")
		}
		return float64(sign) * x
	}
	t.fail(b.Offset, "RANGE with offsets of %s is not supported: order by an integer, a double or a time", typeOf(key))
	return nil
}

// offset returns a bound of a range, nil without a limit.
func offset(bound int64) any {
	if bound == math.MinInt64 || bound == math.MaxInt64 {
		return nil
	}
	return int(bound)
}

// partitionOf returns a window of the partition and of more keys, without an order. In a subquery that depends on rows around it, each of their values has separate
// partitions.
func (t *translation) partitionOf(s *scope, w *tree.Window, more ...gpuframe.Expression) gpuframe.Window {
	partition, _, _ := t.clausesOf(s, w)
	by := slices.Clone(more)
	for _, e := range partition {
		by = append(by, t.settled(t.expr(s, e)).expr)
	}
	var ids []string
	for _, c := range s.domain {
		if s.group != nil {
			c = s.group.columns[c]
		}
		if c != nil && !slices.Contains(ids, c.id) {
			ids = append(ids, c.id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		by = append(by, gpuframe.Col(id))
	}
	return gpuframe.By(by)
}

// frameBound returns a bound of a frame in rows from the current one.
func (t *translation) frameBound(s *scope, b tree.Bound) int64 {
	var n int64
	if b.Offset != nil {
		v := t.expr(s, b.Offset)
		var ok bool
		if n, ok = v.constant.(int64); !ok || n < 0 {
			t.fail(b.Offset, "the offset of a frame is not a literal integer of zero or more: other expressions are not supported here")
		}
	}
	switch b.Kind {
	case tree.UnboundedPreceding:
		return math.MinInt64
	case tree.Preceding:
		return -n
	case tree.Following:
		return n
	case tree.UnboundedFollowing:
		return math.MaxInt64
	}
	return 0
}
