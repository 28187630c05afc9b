package querydata

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/learn"
)

// verb makes queries of a number of inputs, from least to most.
type verb struct {
	least, most int
	make        func(d *decoder, o *object, inputs []gpuframe.Query) gpuframe.Query
}

// oneInput makes a verb of one input.
func oneInput(f func(o *object, q gpuframe.Query) gpuframe.Query) verb {
	return verb{1, 1, func(_ *decoder, o *object, inputs []gpuframe.Query) gpuframe.Query { return f(o, inputs[0]) }}
}

// listed makes a verb with one member, a list of expressions.
func listed(member string, f func(q gpuframe.Query, list ...gpuframe.Expression) gpuframe.Query) verb {
	return oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return f(q, expressions(o.member(member).expressionList())...)
	})
}

// columns makes a verb with one member, a list of columns.
func columns(f func(q gpuframe.Query, columns ...string) gpuframe.Query) verb {
	return oneInput(func(o *object, q gpuframe.Query) gpuframe.Query { return f(q, o.member("columns").texts()...) })
}

// sets makes a verb of two inputs, with another form for the member all.
func sets(distinct, all func(q, other gpuframe.Query) gpuframe.Query) func(d *decoder, o *object, inputs []gpuframe.Query) gpuframe.Query {
	return func(_ *decoder, o *object, inputs []gpuframe.Query) gpuframe.Query {
		if o.member("all").flag() {
			return all(inputs[0], inputs[1])
		}
		return distinct(inputs[0], inputs[1])
	}
}

// counted makes a verb with one member, a number of rows.
func counted(f func(q gpuframe.Query, n int64) gpuframe.Query) verb {
	return oneInput(func(o *object, q gpuframe.Query) gpuframe.Query { return f(q, o.member("n").integer()) })
}

var verbs = map[string]verb{
	"given": {0, 0, (*decoder).given}, "table": {0, 0, (*decoder).table}, "parquet": {0, 0, (*decoder).parquet}, "csv": {0, 0, (*decoder).csv},
	"json_lines": {0, 0, (*decoder).jsonLines}, "ipc": {0, 0, (*decoder).ipc}, "delta": {0, 0, (*decoder).delta}, "iceberg": {0, 0, (*decoder).iceberg},

	"filter": listed("conditions", gpuframe.Query.Filter), "select": listed("expressions", func(q gpuframe.Query, list ...gpuframe.Expression) gpuframe.Query { return q.Select(list) }),
	"with": listed("expressions", gpuframe.Query.With),
	"require": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.Require(o.member("condition").expression(), &RequirementError{o.member("message").textOr("")})
	}),
	"prepare": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		fitted := o.member("fitted")
		t, err := learn.Decode(o.member("kind").text(), []byte(fitted.text()))
		if err != nil {
			fitted.reading.failAs(fitted.place, err)
			return q
		}
		return t.Apply(q)
	}),
	"drop": columns(gpuframe.Query.Drop), "distinct": columns(gpuframe.Query.Distinct), "drop_nulls": columns(gpuframe.Query.DropNulls),
	"head": counted(gpuframe.Query.Head), "tail": counted(gpuframe.Query.Tail),
	"rename": oneInput(rename), "group": oneInput(group), "pivot": oneInput(pivot),
	"unpivot": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.Unpivot(o.member("columns").texts(), o.member("keep").texts()...)
	}),
	"explode": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		options := gpuframe.ExplodeOptions{DropEmpty: o.member("drop_empty").flag(), Position: o.member("position").textOr("")}
		return q.ExplodeWith(options, o.member("columns").texts()...)
	}),
	"sample": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.Sample(o.member("fraction").number(), sampleOptions(o))
	}),
	"sample_rows": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.SampleRows(o.member("n").integer(), sampleOptions(o))
	}),
	"resample": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		windows := q.Resample(o.member("at").expression(), every(o), expressions(o.member("by").expressionList()))
		if span := o.member("span"); !span.missing() {
			windows = windows.Span(span.scalar())
		}
		if span := o.member("span_calendar"); !span.missing() {
			c := span.object()
			windows = windows.Span(gpuframe.Every(c.member("number").count(), c.member("unit").text()))
			c.end()
		}
		if offset := o.member("offset"); !offset.missing() {
			windows = windows.Offset(offset.scalar())
		}
		if closed := o.member("closed"); !closed.missing() {
			windows = windows.Closed(closed.text())
		}
		if label := o.member("label"); !label.missing() {
			windows = windows.Label(label.text())
		}
		return windows.Agg(expressions(o.member("aggregates").expressionList())...)
	}),
	"cross_tab": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.CrossTab(o.member("rows").expression(), o.member("columns").expression(), scalars(o.member("values")))
	}),
	"shuffle": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query { return q.Shuffle(o.member("seed").seed()) }),
	"with_random": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.WithRandom(o.member("name").text(), o.member("seed").seed())
	}),
	"with_row_number": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query { return q.WithRowNumber(o.member("name").text()) }),
	"slice": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.Slice(o.member("offset").integer(), o.member("length").integer())
	}),
	"sort": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query { return q.Sort(o.member("keys").orderings()...) }),
	"top": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.Top(o.member("n").integer(), o.member("keys").orderings()...)
	}),
	"fill_null": oneInput(func(o *object, q gpuframe.Query) gpuframe.Query {
		return q.FillNull(o.member("value").expression(), o.member("columns").texts()...)
	}),
	"cache": {1, 1, (*decoder).cache}, "sql": {0, unlimited, (*decoder).statement},
	"join": {2, 2, join}, "as_of": {2, 2, asOf}, "nearest_to": {2, 2, nearestTo},
	"except": {2, 2, sets(gpuframe.Query.Except, gpuframe.Query.ExceptAll)}, "intersect": {2, 2, sets(gpuframe.Query.Intersect, gpuframe.Query.IntersectAll)},
	"union": {1, unlimited, func(_ *decoder, _ *object, inputs []gpuframe.Query) gpuframe.Query {
		return inputs[0].Union(inputs[1:]...)
	}},
}

// Verbs returns the names of the verbs of steps, sorted.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }

func (d *decoder) cache(o *object, inputs []gpuframe.Query) gpuframe.Query {
	name := o.member("name").text()
	if d.options.Cached == nil || d.err != nil {
		return inputs[0]
	}
	return d.options.Cached(name, inputs[0])
}

// statement returns the query of a statement of SQL.
func (d *decoder) statement(o *object, inputs []gpuframe.Query) (q gpuframe.Query) {
	text, listed := o.member("text").text(), o.member("names")
	names := listed.texts()
	var list []any
	for _, v := range o.member("arguments").list() {
		list = append(list, v.argument())
	}
	switch {
	case d.err != nil:
		return q
	case d.options.Statement == nil:
		d.fail(o.place, "statements of SQL are not possible here")
		return q
	case len(names) != len(inputs):
		listed.expected(fmt.Sprintf("the names of %d inputs", len(inputs)))
		return q
	}
	tables := map[string]gpuframe.Query{}
	for i, name := range names {
		tables[name] = inputs[i]
	}
	q, err := d.options.Statement(d.ctx, text, tables, list)
	if err != nil {
		d.fail(o.place, "%v", err)
	}
	return q
}

// every returns the length of windows: a literal, or an object with number, unit, zone and
// week_start.
func every(o *object) any {
	member := o.member("calendar")
	if member.missing() {
		return o.member("every").scalar()
	}
	return calendar(member)
}

// calendar returns an object with number, unit, zone and week_start.
func calendar(v value) gpuframe.Calendar {
	c := v.object()
	defer c.end()
	calendar := gpuframe.Every(c.member("number").count(), c.member("unit").text())
	if zone := c.member("zone"); !zone.missing() {
		calendar = calendar.In(zone.text())
	}
	if start := c.member("week_start"); !start.missing() {
		calendar = calendar.WeeksFrom(choice(start, "day of the week", weekdays))
	}
	return calendar
}

func sampleOptions(o *object) gpuframe.SampleOptions {
	options := gpuframe.SampleOptions{Seed: o.member("seed").seed(), Replace: o.member("replace").flag(), By: expressions(o.member("by").expressionList())}
	if weight := o.member("weight"); !weight.missing() {
		options.Weight = weight.expression()
	}
	return options
}

// scalars returns the Go values of a list of literals.
func scalars(list value) (values []any) {
	for _, v := range list.list() {
		values = append(values, v.scalar())
	}
	return values
}

// seed returns the seed of random numbers, 0 if it is missing.
func (v value) seed() uint64 {
	if v.missing() {
		return 0
	}
	return uint64(v.integer())
}

// rename gives columns other names. Two columns may exchange theirs.
func rename(o *object, q gpuframe.Query) gpuframe.Query {
	var from, to []string
	for _, pair := range o.member("columns").list() {
		both := pair.texts()
		if len(both) != 2 {
			pair.expected("a list of the old and the new name")
			return q
		}
		from, to = append(from, both[0]), append(to, both[1])
	}
	between, renamed := slices.Clone(to), map[string]bool{}
	for _, name := range from {
		renamed[name] = true
	}
	for i, name := range to {
		if renamed[name] {
			between[i] = fmt.Sprintf("%s (renamed %d)", from[i], i)
		}
	}
	for i := range from {
		q = q.Rename(from[i], between[i])
	}
	for i := range to {
		if between[i] != to[i] {
			q = q.Rename(between[i], to[i])
		}
	}
	return q
}

// grouped divides the rows by the members keys, grouping, sets and drop_nulls.
func grouped(o *object, q gpuframe.Query) gpuframe.Grouped {
	keys := expressions(o.member("keys").expressionList())
	g := choice(o.member("grouping"), "kind of grouping", groupings)(q, keys)
	if sets := o.member("sets"); !sets.missing() {
		var columns [][]string
		for _, set := range sets.list() {
			columns = append(columns, set.texts())
		}
		if len(keys) > 0 {
			sets.expected("no keys, which sets have")
		}
		g = q.GroupingSets(columns...)
	}
	if o.member("drop_nulls").flag() {
		g = g.DropNulls()
	}
	return g
}

func group(o *object, q gpuframe.Query) gpuframe.Query {
	return grouped(o, q).Agg(expressions(o.member("aggregates").expressionList())...)
}

func pivot(o *object, q gpuframe.Query) gpuframe.Query {
	values := scalars(o.member("values"))
	g, on, aggregate := grouped(o, q), o.member("on").expression(), o.member("aggregate").expression()
	if o.reading.err != nil {
		return q
	}
	return g.Pivot(on, values, aggregate)
}

// orderings returns the keys of a sort.
func (v value) orderings() []gpuframe.Ordering {
	var list []gpuframe.Ordering
	for _, each := range v.list() {
		o := each.object()
		by := o.member("value").expression()
		key := by.Asc()
		if o.member("descending").flag() {
			key = by.Desc()
		}
		if o.member("nulls_first").flag() {
			key = key.NullsFirst()
		}
		o.end()
		list = append(list, key)
	}
	return list
}

// groupings divide rows by keys.
var groupings = []named[func(q gpuframe.Query, keys ...gpuframe.Key) gpuframe.Grouped]{
	{"keys", gpuframe.Query.GroupBy}, {"rollup", gpuframe.Query.Rollup}, {"cube", gpuframe.Query.Cube},
}

// kinds are the kinds of joins, directions those of as-of joins. A member that is missing is
// the first one.
var (
	kinds = []named[gpuframe.JoinKind]{
		{"inner", gpuframe.Inner}, {"left", gpuframe.Left}, {"right", gpuframe.Right}, {"full", gpuframe.Full},
		{"semi", gpuframe.Semi}, {"anti", gpuframe.Anti}, {"cross", gpuframe.Cross},
	}
	directions = []named[gpuframe.Direction]{
		{"backward", gpuframe.Backward}, {"forward", gpuframe.Forward}, {"nearest", gpuframe.Nearest},
	}
	metrics = []named[gpuframe.Metric]{{"l2", gpuframe.L2}, {"cosine", gpuframe.Cosine}, {"dot", gpuframe.DotProduct}}
)

var weekdays = []named[time.Weekday]{
	{"monday", time.Monday}, {"tuesday", time.Tuesday}, {"wednesday", time.Wednesday}, {"thursday", time.Thursday}, {"friday", time.Friday},
	{"saturday", time.Saturday}, {"sunday", time.Sunday},
}

type named[T any] struct {
	name  string
	value T
}

// choice returns the one of some values that a string names.
func choice[T any](v value, kind string, values []named[T]) T {
	if v.missing() {
		return values[0].value
	}
	var candidates []string
	text := v.text()
	for _, each := range values {
		if each.name == text {
			return each.value
		}
		candidates = append(candidates, each.name)
	}
	v.reading.fail(v.place, "%s", names.Unknown(kind, text, candidates))
	return values[0].value
}

// pair returns a term of a join: an object with left and right.
func (v value) pair() gpuframe.JoinTerm {
	o := v.object()
	defer o.end()
	return gpuframe.On(o.member("left").expression(), o.member("right").expression())
}

func (v value) pairs() []gpuframe.JoinTerm {
	var terms []gpuframe.JoinTerm
	for _, each := range v.list() {
		terms = append(terms, each.pair())
	}
	return terms
}

func join(_ *decoder, o *object, inputs []gpuframe.Query) gpuframe.Query {
	terms := o.member("on").pairs()
	for _, key := range o.member("keys").expressionList() {
		terms = append(terms, key)
	}
	for _, condition := range o.member("where").expressionList() {
		terms = append(terms, gpuframe.Matching(condition))
	}
	if o.member("nulls_equal").flag() {
		terms = append(terms, gpuframe.NullsMatch())
	}
	if suffix := o.member("suffix"); !suffix.missing() {
		terms = append(terms, gpuframe.Suffix(suffix.text()))
	}
	return inputs[0].Join(inputs[1], choice(o.member("kind"), "kind of join", kinds), terms...)
}

func asOf(_ *decoder, o *object, inputs []gpuframe.Query) gpuframe.Query {
	options := gpuframe.AsOfOptions{
		Direction: choice(o.member("direction"), "direction", directions), By: o.member("by").pairs(),
		NotEqual: o.member("not_equal").flag(), MatchedOnly: o.member("matched_only").flag(), Sorted: o.member("sorted").flag(),
	}
	if tolerance := o.member("tolerance"); !tolerance.missing() {
		options.Tolerance = tolerance.scalar()
	}
	if suffix := o.member("suffix"); !suffix.missing() {
		options.By = append(options.By, gpuframe.Suffix(suffix.text()))
	}
	return inputs[0].AsOf(inputs[1], o.member("on").pair(), options)
}

func nearestTo(_ *decoder, o *object, inputs []gpuframe.Query) gpuframe.Query {
	options := gpuframe.NearestOptions{
		Metric: choice(o.member("metric"), "metric", metrics), Distance: o.member("distance").textOr(""), Rank: o.member("rank").textOr(""),
		MatchedOnly: o.member("matched_only").flag(),
	}
	if dimensions := o.member("dimensions"); !dimensions.missing() {
		options.Dimensions = dimensions.count()
	}
	on := []gpuframe.JoinTerm{o.member("on").pair()}
	if suffix := o.member("suffix"); !suffix.missing() {
		on = append(on, gpuframe.Suffix(suffix.text()))
	}
	return inputs[0].NearestTo(inputs[1], on, o.member("k").count(), options)
}
