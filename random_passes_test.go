package gpuframe_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// Package querytest has a model of few types and functions. The queries of this file have
// columns of all types and all functions of the catalog, and no model: a query without the
// optimizer, one with it, and one on several devices have the same rows.

// anyQuery draws queries.
type anyQuery struct {
	*rapid.T
	// types binds expressions to find their types.
	types *gpuframe.Engine
	// rows, aggregates and windows are names of functions.
	rows, aggregates, windows []string
	// pools are the values of each type, with the extreme ones and a null.
	pools  map[string]arrow.Array
	names  int
	random *rand.Rand
}

// anyState is a query on any engine, and its columns.
type anyState struct {
	of     func(*gpuframe.Engine) gpuframe.Query
	schema *arrow.Schema
	text   string
}

// newAnyQuery returns a drawer of queries, whose types an engine finds.
func newAnyQuery(t require.TestingT, types *gpuframe.Engine) anyQuery {
	q := anyQuery{types: types, pools: map[string]arrow.Array{}}
	for _, f := range catalog.All() {
		if !isOfValues(f) && !slices.Contains(vectorFunctions, f.Name) {
			continue
		}
		switch f.Section {
		case "Aggregates":
			if f.Name != "any_value" { // which value it is may depend on the plan
				q.aggregates = append(q.aggregates, f.Go)
			}
		case "Windows":
			q.windows = append(q.windows, f.Go)
		case "Lists, structs, maps":
			if slices.Contains(vectorFunctions, f.Name) {
				q.rows = append(q.rows, f.Go)
			}
		default:
			q.rows = append(q.rows, f.Go)
		}
	}
	for _, names := range []*[]string{&q.rows, &q.aggregates, &q.windows} {
		slices.Sort(*names)
	}
	for _, word := range wordsOf["any"] {
		for _, of := range typesByWord[word] {
			b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
			appendExtremes(b)
			appendSmall(b)
			b.AppendNull()
			q.pools[of.String()] = b.NewArray()
			b.Release()
		}
	}
	for _, dataType := range vectorTypes {
		q.pools[dataType.String()] = vectorsOf(dataType)
	}
	dictionary := array.NewDictionaryBuilder(arrowmemory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	defer dictionary.Release()
	for _, text := range []string{"", "a", "Oslo", " x "} {
		require.NoError(t, dictionary.AppendString(text))
	}
	dictionary.AppendNull()
	q.pools["dictionary"] = dictionary.NewArray()
	return q
}

// vectorFunctions are the functions of vectors.
var vectorFunctions = []string{"dot", "l2_distance", "cosine_similarity", "norm", "list_sum", "list_length"}

// vectorTypes are types of vectors of two numbers.
var vectorTypes = []arrow.DataType{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), arrow.ListOf(arrow.PrimitiveTypes.Float64)}

// vectorsOf returns vectors of two numbers, with a null element and a null.
func vectorsOf(of arrow.DataType) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
	defer b.Release()
	for _, text := range []string{"[0, 0]", "[1, 2]", "[-1.5, 3]", "[1e30, -1e-30]", "[3, 4]", "[1, null]", "null"} {
		if err := b.AppendValueFromString(text); err != nil {
			panic(err)
		}
	}
	return b.NewArray()
}

// appendSmall appends values that several columns have.
func appendSmall(b array.Builder) {
	for i := range 4 {
		text := fmt.Sprint(i)
		switch b.(type) {
		case *array.BooleanBuilder:
			text = fmt.Sprint(i%2 == 0)
		case *array.StringBuilder, *array.LargeStringBuilder, *array.BinaryBuilder:
			text = []string{"a", " ab ", "Oslo", "12"}[i]
		case *array.Date32Builder, *array.Date64Builder, *array.TimestampBuilder:
			text = []string{"2024-02-29", "2023-12-31", "2024-01-01", "1969-12-31"}[i]
		case *array.Time32Builder, *array.Time64Builder:
			text = fmt.Sprintf("0%d:30:00", i)
		case *array.DurationBuilder:
			text = fmt.Sprintf("%dh", i)
		case *array.ListBuilder:
			b.AppendNull()
			continue
		}
		if b.Type().ID() == arrow.BINARY {
			b.(*array.BinaryBuilder).Append([]byte(text))
		} else if err := b.AppendValueFromString(text); err != nil {
			panic(err)
		}
	}
}

// choose draws a number below n. The label names it.
func (q *anyQuery) choose(_ string, n int) int { return q.random.IntN(n) }

func (q *anyQuery) newName() string {
	q.names++
	return fmt.Sprint("n", q.names)
}

// source draws a table of some batches.
func (q *anyQuery) source() anyState {
	kinds := slices.Sorted(maps.Keys(q.pools))
	var fields []arrow.Field
	rows := q.choose("rows", 14)
	var columns [][]int
	for i := range 1 + q.choose("columns", 5) {
		of := q.pools[kinds[q.choose("type", len(kinds))]]
		// A field that is not nullable may have nulls all the same: others write such schemas.
		required, undeclared := q.choose("required", 4) == 0, q.choose("undeclared", 8) == 0
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: of.DataType(), Nullable: !required && !undeclared})
		most, picked := of.Len(), []int{}
		if required {
			for most > 0 && of.IsNull(most-1) {
				most--
			}
		}
		for range rows {
			picked = append(picked, q.choose("value", most))
		}
		columns = append(columns, picked)
	}
	schema := arrow.NewSchema(fields, nil)
	var records []arrow.Record
	for at := 0; at < rows; {
		end := min(at+1+q.choose("batch", 9), rows)
		var arrays []arrow.Array
		for i, picked := range columns {
			of := q.pools[fields[i].Type.String()]
			if of == nil {
				of = q.pools["dictionary"]
			}
			var parts []arrow.Array
			for _, n := range picked[at:end] {
				parts = append(parts, array.NewSlice(of, int64(n), int64(n+1)))
			}
			made, err := array.Concatenate(parts, arrowmemory.DefaultAllocator)
			require.NoError(q, err)
			arrays = append(arrays, made)
		}
		records = append(records, array.NewRecord(schema, arrays, int64(end-at)))
		at = end
	}
	text := "source"
	for i, f := range fields {
		text += fmt.Sprintf(" %s %v nullable %v", f.Name, f.Type, f.Nullable)
		for _, r := range records {
			text += fmt.Sprintf(" %v", r.Column(i))
		}
	}
	return anyState{func(e *gpuframe.Engine) gpuframe.Query { return e.Records(schema, records...) }, schema, text}
}

// typeOf returns the type of an expression on columns, or nil if it does not fit.
func (q *anyQuery) typeOf(schema *arrow.Schema, e gpuframe.Expr) arrow.DataType {
	made, err := q.types.Records(schema).Select(e.As("z")).Schema(q.Context())
	if err != nil {
		return nil
	}
	return made.Field(0).Type
}

// column draws a column of a type, or of any.
func (q *anyQuery) column(schema *arrow.Schema, of arrow.DataType) gpuframe.Expr {
	var fits []string
	for _, f := range schema.Fields() {
		if of == nil || arrow.TypeEqual(f.Type, of) {
			fits = append(fits, f.Name)
		}
	}
	if len(fits) == 0 {
		return gpuframe.LitOf(of, nil)
	}
	return gpuframe.Col(fits[q.choose("column", len(fits))])
}

// literal draws a literal of a type, or one that takes its type from others.
func (q *anyQuery) literal(of arrow.DataType) gpuframe.Expr {
	switch pool := q.pools[of.String()]; q.choose("literal", 4) {
	case 0:
		return gpuframe.Lit([]any{0, 1, -1, 100, 1 << 20, int64(math.MaxInt64)}[q.choose("integer", 6)])
	case 1:
		return gpuframe.Lit([]any{0.0, math.Copysign(0, -1), 0.5, 1.5, math.NaN(), math.Inf(1)}[q.choose("float", 6)])
	default:
		if pool == nil {
			return gpuframe.Lit("a")
		}
		value, ok := anyValueAt(pool, q.choose("value", pool.Len()))
		if !ok {
			return gpuframe.Lit("a")
		}
		return gpuframe.LitOf(of, value)
	}
}

// anyValueAt returns a value as LitOf takes it.
func anyValueAt(of arrow.Array, i int) (any, bool) {
	if of.IsNull(i) {
		return nil, true
	}
	switch of := of.(type) {
	case *array.Int8:
		return of.Value(i), true
	case *array.Int32:
		return of.Value(i), true
	case *array.Int64:
		return of.Value(i), true
	case *array.Uint16:
		return of.Value(i), true
	case *array.Uint64:
		return of.Value(i), true
	case *array.Float32:
		return of.Value(i), true
	case *array.Float64:
		return of.Value(i), true
	case *array.Decimal128:
		return of.Value(i), true
	case *array.Boolean:
		return of.Value(i), true
	case *array.String:
		return of.Value(i), true
	case *array.LargeString:
		return of.Value(i), true
	case *array.Binary:
		return of.Value(i), true
	case *array.Date32:
		return of.Value(i), true
	case *array.Date64:
		return of.Value(i), true
	case *array.Timestamp:
		return of.Value(i), true
	case *array.Time32:
		return of.Value(i), true
	case *array.Time64:
		return of.Value(i), true
	case *array.Duration:
		return of.Value(i), true
	}
	return nil, false
}

// operand draws a second operand for a value of a type.
func (q *anyQuery) operand(schema *arrow.Schema, of arrow.DataType) gpuframe.Expr {
	switch q.choose("operand", 4) {
	case 0:
		return q.column(schema, of)
	case 1:
		return q.column(schema, nil)
	case 2: // a constant part
		a, b := q.literal(of), q.literal(of)
		return callWith(q, []string{"Add", "Sub", "Mul", "Coalesce", "If", "And"}[q.choose("constant", 6)], of, a, b)
	}
	return q.literal(of)
}

// value draws an expression that has a column and fits the columns.
func (q *anyQuery) value(schema *arrow.Schema, depth int) gpuframe.Expr {
	x := q.column(schema, nil)
	for range q.choose("depth", depth+1) {
		of := q.typeOf(schema, x)
		if of == nil {
			break
		}
		made := callWith(q, q.rows[q.choose("function", len(q.rows))], of, x, q.operand(schema, of))
		if q.typeOf(schema, made) != nil {
			x = made
		}
	}
	return x
}

// condition draws an expression of bools.
func (q *anyQuery) condition(schema *arrow.Schema) gpuframe.Expr {
	x := q.value(schema, 2)
	of := q.typeOf(schema, x)
	comparisons := []string{"Eq", "Ne", "Lt", "Le", "Gt", "Ge", "IsNull", "IsValid", "In", "HasPrefix", "Like", "IsNaN"}
	if of.ID() != arrow.BOOL || q.choose("compared", 3) == 0 {
		made := callWith(q, comparisons[q.choose("comparison", len(comparisons))], of, x, q.operand(schema, of))
		if q.typeOf(schema, made) == nil {
			made = x.IsNull()
		}
		x = made
	}
	switch q.choose("logic", 6) {
	case 0:
		return x.Not()
	case 1:
		return x.And(q.condition(schema))
	case 2:
		return x.Or(q.condition(schema))
	}
	return x
}

// then adds a verb that fits.
func (q *anyQuery) then(s anyState, verb func(gpuframe.Query, *gpuframe.Engine) gpuframe.Query, format string, arguments ...any) anyState {
	made, err := verb(q.types.Records(s.schema), q.types).Schema(q.Context())
	if err != nil {
		return s
	}
	return anyState{
		func(e *gpuframe.Engine) gpuframe.Query { return verb(s.of(e), e) }, arrow.NewSchema(made.Fields(), nil),
		s.text + "\n\t." + fmt.Sprintf(format, arguments...),
	}
}

// aggregate draws an aggregate, perhaps of some rows.
func (q *anyQuery) aggregate(schema *arrow.Schema) gpuframe.Expr {
	if q.choose("count", 6) == 0 {
		return gpuframe.Count()
	}
	x := q.value(schema, 1)
	name := q.aggregates[q.choose("aggregate", len(q.aggregates))]
	made := callWith(q, name, q.typeOf(schema, x), x, q.column(schema, nil))
	if slices.Contains([]string{"First", "Last", "List"}, name) && q.choose("skip nulls", 2) == 0 {
		made = made.SkipNulls()
	}
	if q.choose("where", 4) == 0 {
		made = made.Where(q.condition(schema))
	}
	return made
}

// frame draws a frame of ordered windows: of rows, or of a range of numbers, times or steps of a calendar.
func (q *anyQuery) frame(w gpuframe.Window, schema *arrow.Schema) gpuframe.Window {
	if q.choose("at least", 4) == 0 {
		w = w.AtLeast(2)
	}
	low, high := int64(q.choose("low", 5)-3), int64(q.choose("high", 4)-1)
	var kinds []gpuframe.Window
	for _, window := range []gpuframe.Window{
		w.Rows(low, high), w.Range(low, high), w.Range(time.Duration(low)*24*time.Hour, time.Duration(high)*24*time.Hour),
		w.Range(gpuframe.Every(int(low), "month"), gpuframe.Every(int(high), "day")), w.Range(nil, high), w.Rows(gpuframe.FirstRow, high),
	} {
		if q.typeOf(schema, gpuframe.Count().Over(window)) != nil {
			kinds = append(kinds, window)
		}
	}
	if len(kinds) == 0 {
		return w
	}
	return kinds[q.choose("frame", len(kinds))]
}

// step adds a random verb.
func (q *anyQuery) step(s, other anyState) anyState {
	name := q.newName()
	switch q.choose("verb", 16) {
	case 0, 1, 2:
		c := q.condition(s.schema)
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.Filter(c) }, "Filter(%v)", c)
	case 3, 4:
		x := q.value(s.schema, 2)
		if q.choose("replace", 3) == 0 {
			name = s.schema.Field(q.choose("replaced", s.schema.NumFields())).Name
		}
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.With(x.As(name)) }, "With(%v as %s)", x, name)
	case 5:
		x, y := q.value(s.schema, 2), q.column(s.schema, nil)
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.Select(x.As(name), y) }, "Select(%v as %s, %v)", x, name, y)
	case 6:
		k := q.value(s.schema, 1)
		o := k.Asc()
		if q.choose("descending", 2) == 0 {
			o = k.Desc()
		}
		if q.choose("nulls first", 2) == 0 {
			o = o.NullsFirst()
		}
		if n := int64(q.choose("top", 8)); n > 0 && n < 4 {
			return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.Top(n, o) }, "Top(%d, %v)", n, o)
		}
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.Sort(o) }, "Sort(%v)", o)
	case 7:
		from, n := int64(q.choose("from", 4)), int64(q.choose("rows", 9))
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.Slice(from, n) }, "Slice(%d, %d)", from, n)
	case 8:
		by := s.schema.Field(q.choose("by", s.schema.NumFields())).Name
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.Distinct(by) }, "Distinct(%s)", by)
	case 9:
		c := q.condition(s.schema)
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.Filter(c).Union(of, of.Head(1)) }, "Filter(%v).Union(itself, its Head(1))", c)
	case 10, 11:
		key, a, b := q.value(s.schema, 1), q.aggregate(s.schema), q.aggregate(s.schema)
		second := q.newName()
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query {
			return of.GroupBy(key.As(name)).Agg(a.As(second), b.As(second+"b")).Sort(gpuframe.Col(name))
		}, "GroupBy(%v as %s).Agg(%v as %s, %v as %[4]sb).Sort(%[2]s)", key, name, a, second, b)
	case 12:
		key, a := q.value(s.schema, 1), q.aggregate(s.schema)
		switch q.choose("ordered", 4) {
		case 2:
			a = a.Over(q.frame(gpuframe.By(key).OrderBy(q.value(s.schema, 1)), s.schema))
		case 0, 1:
			x := q.value(s.schema, 1)
			function := q.windows[q.choose("window", len(q.windows))]
			a = callWith(q, function, q.typeOf(s.schema, x), x, q.column(s.schema, nil))
			if slices.Contains([]string{"Lag", "Lead", "Nth"}, function) && q.choose("skip nulls", 2) == 0 {
				a = a.SkipNulls()
			}
			o := q.value(s.schema, 1)
			a = a.Over(gpuframe.By(key).OrderBy(o))
		default:
			a = a.Over(gpuframe.By(key))
		}
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.With(a.As(name)) }, "With(%v as %s)", a, name)
	case 13, 14:
		kind := []gpuframe.JoinKind{gpuframe.Inner, gpuframe.Left, gpuframe.Right, gpuframe.Full, gpuframe.Semi, gpuframe.Anti}[q.choose("join", 6)]
		term := gpuframe.JoinTerm(gpuframe.Col("c0"))
		text := "c0"
		if q.choose("pair", 3) > 0 {
			a, b := q.value(s.schema, 1), q.value(other.schema, 1)
			term, text = gpuframe.On(a, b), fmt.Sprintf("%v = %v", a, b)
		}
		return q.then(s, func(of gpuframe.Query, e *gpuframe.Engine) gpuframe.Query {
			right := other.of(e)
			if e == q.types {
				right = q.types.Records(other.schema)
			}
			return of.Join(right, kind, term).Head(100)
		}, "Join(%s,\n %v, %s).Head(100)", other.text, kind, text)
	}
	if q.choose("cached", 2) == 0 {
		return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.Cache() }, "Cache()")
	}
	return q.then(s, func(of gpuframe.Query, _ *gpuframe.Engine) gpuframe.Query { return of.WithRowNumber(name) }, "WithRowNumber(%s)", name)
}

// anyLines returns the rows of a query as texts.
func anyLines(t *rapid.T, q gpuframe.Query) (list []string, err error) {
	f, err := q.Collect(t.Context())
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, f.Release()) }()
	record, err := f.Record(t.Context())
	if err != nil {
		return nil, err
	}
	defer record.Release()
	for i := range int(record.NumRows()) {
		var row []string
		for _, c := range record.Columns() {
			row = append(row, anyText(c, i))
		}
		list = append(list, strings.Join(row, " | "))
	}
	return list, nil
}

// anyText returns a value as text, also one with numbers that JSON lacks.
func anyText(values arrow.Array, i int) string {
	var parts []string
	switch values := values.(type) {
	case *array.Float64:
		if values.IsValid(i) {
			return fmt.Sprintf("%.9g", values.Value(i)+0)
		}
	case *array.Float32:
		if values.IsValid(i) {
			return fmt.Sprintf("%.6g", values.Value(i)+0)
		}
	case array.ListLike:
		for begin, end := values.ValueOffsets(i); begin < end; begin++ {
			parts = append(parts, anyText(values.ListValues(), int(begin)))
		}
	case *array.Struct:
		for field := range values.NumField() {
			parts = append(parts, anyText(values.Field(field), i))
		}
	default:
		if values.IsValid(i) {
			return values.ValueStr(i)
		}
	}
	if values.IsNull(i) {
		return "null"
	}
	return fmt.Sprint(parts)
}

// difference describes the first row that differs.
func difference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("row %d is %s, expected %s, of %d rows, expected %d", i, got[i], want[i], len(got), len(want))
		}
	}
	return fmt.Sprintf("%d rows, expected %d", len(got), len(want))
}

// TestRandomQueriesOfAllFunctions compares queries with all functions: without the optimizer, with
// it, and on several devices.
func TestRandomQueriesOfAllFunctions(t *testing.T) {
	e, several := engineOn(t, devicetest.Open(t, "host")), openDevices(t, devicetest.Hosts(t, 3))
	drawn := newAnyQuery(t, engineOn(t, devicetest.Open(t, "host")))
	ran, failed, withRows := 0, 0, 0
	property.Check(t, func(t *rapid.T) {
		q := drawn
		q.T, q.names = t, 0
		q.random = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		s, other := q.source(), q.source()
		for range 1 + q.choose("verbs", 5) {
			s = q.step(s, other)
		}
		of := s.of(e)
		plain, err := of.Without(t.Context(), plan.Passes()...)
		require.NoError(t, err, s.text)
		want, err := anyLines(t, plain)
		require.NoError(t, of.Evict())
		ran++
		if len(want) > 0 {
			withRows++
		}
		if err != nil {
			failed++
			t.Logf("%v\n%s", err, s.text)
		}
		optimized, failure := of.Without(t.Context())
		require.NoError(t, failure, s.text)
		got, failure := anyLines(t, optimized)
		require.NoError(t, of.Evict())
		if (err == nil) != (failure == nil) || !slices.Equal(want, got) {
			t.Fatalf("with the optimizer: %s, error %v and without %v\n%s\nplan\n%s", difference(got, want), failure, err, s.text, optimized.ExplainPlan())
		}
		divided := s.of(several)
		got, failure = anyLines(t, divided)
		require.NoError(t, divided.Evict())
		if (err == nil) != (failure == nil) || !slices.Equal(want, got) {
			t.Fatalf("on several devices: %s, error %v and on one %v\n%s", difference(got, want), failure, err, s.text)
		}
	})
	t.Logf("%d of %d queries failed, %d have rows", failed, ran, withRows)
}
