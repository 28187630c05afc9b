package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// growing is a query that is made of n verbs.
type growing struct {
	name string
	make func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query
}

// repeated applies a verb n times to a table of the columns a and b.
func repeated(name string, verb func(q gpuframe.Query, i int) gpuframe.Query) growing {
	return growing{name, func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
		q := e.Records(nil, r)
		for i := range n {
			q = verb(q, i)
		}
		return q
	}}
}

// chains are queries whose number of verbs grows, doublings those in which each verb reads the
// query before it twice.
var (
	planA, planB = gpuframe.Col("a"), gpuframe.Col("b")
	chains       = []growing{
		{"unions", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
			q := e.Records(nil, r)
			for range n {
				q = q.Union(e.Records(nil, r))
			}
			return q
		}},
		{"left joins", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
			q := e.Records(nil, r)
			for i := range n {
				other := e.Records(nil, r).Rename("b", fmt.Sprintf("b%d", i))
				q = q.Join(other, gpuframe.Left, planA).Drop(fmt.Sprintf("b%d", i))
			}
			return q
		}},
		{"inner joins in any order", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
			q := e.Records(nil, r)
			for i := range n {
				key := fmt.Sprintf("k%d", i)
				q = q.Join(e.Records(nil, r).Rename("a", key).Drop("b"), gpuframe.Inner, gpuframe.On(planA, gpuframe.Col(key))).Drop(key)
			}
			return q.Select(gpuframe.Count())
		}},
		repeated("filters", func(q gpuframe.Query, i int) gpuframe.Query { return q.Filter(planA.Gt(i)) }),
		repeated("filters with constants", func(q gpuframe.Query, i int) gpuframe.Query { return q.Filter(planA.Gt(gpuframe.Lit(i).Add(1))) }),
		repeated("filters below a projection", func(q gpuframe.Query, i int) gpuframe.Query {
			return q.With(planA.Add(1).As("a")).Filter(planB.Gt(i))
		}),
		repeated("With", func(q gpuframe.Query, i int) gpuframe.Query { return q.With(planA.Mul(planA).Add(planA).As("a")) }),
		repeated("With and Rename", func(q gpuframe.Query, i int) gpuframe.Query {
			return q.With(planA.Add(planB).As("c")).Rename("c", "d").Drop("a").Rename("d", "a")
		}),
		repeated("Rename", func(q gpuframe.Query, i int) gpuframe.Query {
			return q.Rename([]string{"b", "c"}[i%2], []string{"c", "b"}[i%2])
		}),
		repeated("Sort and Head", func(q gpuframe.Query, i int) gpuframe.Query { return q.Sort(planA).Head(int64(1000 - i)) }),
		repeated("GroupBy", func(q gpuframe.Query, i int) gpuframe.Query {
			return q.GroupBy(planA).Agg(planB.Sum().As("b"))
		}),
		{"conditions in a Filter", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
			c := planA.Gt(0)
			for i := range n {
				c = c.Or(planA.Eq(i + 5)).And(c.Or(planB.Eq(i + 5)))
			}
			return e.Records(nil, r).Filter(c).Filter(c.Not())
		}},
	}
	doublings = []growing{
		repeated("Union", func(q gpuframe.Query, _ int) gpuframe.Query { return q.Union(q) }),
		repeated("Union and Head", func(q gpuframe.Query, _ int) gpuframe.Query { return q.Union(q).Head(1) }),
		repeated("Union, With and Filter", func(q gpuframe.Query, i int) gpuframe.Query {
			return q.With(planA.Add(1).As("a")).Union(q.With(planA.Add(2).As("a"))).Filter(planA.Gt(i))
		}),
		repeated("Union and Agg", func(q gpuframe.Query, i int) gpuframe.Query {
			return q.Filter(planA.Gt(i)).Union(q.Filter(planA.Gt(i))).GroupBy(planA).Agg(planB.Sum().As("b"))
		}),
		{"Union below Agg", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
			q := e.Records(nil, r).Filter(planA.Gt(0))
			for range n {
				q = q.Union(q)
			}
			return q.Filter(planB.Gt(0)).GroupBy(planA).Agg(planB.Sum())
		}},
		repeated("Union, Sort and Distinct", func(q gpuframe.Query, _ int) gpuframe.Query { return q.Union(q).Sort(planA).Distinct("a") }),
		repeated("semi Join", func(q gpuframe.Query, _ int) gpuframe.Query { return q.Join(q, gpuframe.Semi, planA) }),
		repeated("inner Join", func(q gpuframe.Query, _ int) gpuframe.Query { return q.Join(q, gpuframe.Inner, planA, planB) }),
		repeated("left Join and Filter", func(q gpuframe.Query, i int) gpuframe.Query {
			return q.Join(q, gpuframe.Left, planA, planB).Filter(planA.Gt(i))
		}),
		repeated("AsOf", func(q gpuframe.Query, _ int) gpuframe.Query {
			return q.AsOf(q.Select(planA), planA, gpuframe.AsOfOptions{})
		}),
		repeated("Join with an aggregate", func(q gpuframe.Query, _ int) gpuframe.Query {
			return q.Join(q.GroupBy(planA).Agg(planB.Sum().As("c")), gpuframe.Inner, planA).Drop("c")
		}),
		repeated("windows", func(q gpuframe.Query, _ int) gpuframe.Query {
			return q.With(planA.Sum().Over(gpuframe.By(planB)).Add(planA.CumSum()).As("a"))
		}),
		{"expression", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
			x := planA
			for range n {
				x = x.Mul(x).Add(x)
			}
			return e.Records(nil, r).With(x.As("a")).Filter(planA.Gt(0))
		}},
		{"casts", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
			x := planA
			for range n {
				x = x.Cast(arrow.PrimitiveTypes.Float64).Add(x.Cast(arrow.PrimitiveTypes.Float64))
			}
			return e.Records(nil, r).With(x.As("a"))
		}},
		{"windows of windows", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
			x := planA
			for range n {
				x = x.CumSum().Add(x.CumMax())
			}
			return e.Records(nil, r).With(x.As("a"))
		}},
	}
)

// interpolations are windows that each read all windows below them, so planning them takes the square
// of their number.
var interpolations = growing{"interpolations", func(e *gpuframe.Engine, r arrow.Record, n int) gpuframe.Query {
	return e.Records(nil, r).With(interpolated(n).As("a"))
}}

// interpolated interpolates a column n times.
func interpolated(n int) gpuframe.Expr {
	x := planA
	for range n {
		x = x.InterpolateBy(planB)
	}
	return x.Over(gpuframe.By().OrderBy(planB))
}

// twoColumns has the columns a and b.
func twoColumns(t testing.TB) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range schema.NumFields() {
		b.Field(i).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
	}
	r := b.NewRecord()
	t.Cleanup(r.Release)
	return r
}

// planningWork is the number of allocations that planning a query makes. It is nearly the same in
// every run, unlike the time.
func planningWork(t interface {
	require.TestingT
	Context() context.Context
}, q gpuframe.Query) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := q.Needs(t.Context())
	require.NoError(t, err)
	_, err = q.Explain(t.Context())
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// mostPerVerb is the number of allocations that each verb of a long query takes to plan, and
// mostOfFew that few verbs take, which are worth more.
const mostPerVerb, mostOfFew = 7_000, 3_000_000

// TestPlanningIsLinear plans queries of more and more verbs. The work grows with their number.
func TestPlanningIsLinear(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	r := twoColumns(t)
	for _, list := range []struct {
		of    []growing
		sizes []int
	}{{chains, []int{10, 20, 80, 320}}, {doublings, []int{8, 12, 16, 60}}} {
		for _, g := range list.of {
			t.Run(g.name, func(t *testing.T) {
				sizes := list.sizes
				if testing.Short() {
					sizes = sizes[:3]
				}
				for _, n := range sizes {
					work := planningWork(t, g.make(e, r, n))
					t.Log(n, "verbs:", work, "allocations")
					require.LessOrEqual(t, work, uint64(max(mostPerVerb*n, mostOfFew)), "%d verbs", n)
				}
			})
		}
	}
}

// TestExpressionsAreLinear makes expressions of more and more windows of windows. The work grows with
// their number, although each reads all those below it.
func TestExpressionsAreLinear(t *testing.T) {
	work := func(n int) float64 { return testing.AllocsPerRun(1, func() { interpolated(n) }) }
	few, many := work(20), work(160)
	t.Log(few, many)
	require.Less(t, many, 9*few)
}

// BenchmarkPlanning plans 200 unions, 200 joins, 1,000 filters and so on, and 60 doublings. The aim
// is 100 ms for each.
func BenchmarkPlanning(b *testing.B) {
	e := engineOn(b, devicetest.Open(b, "host"))
	r := twoColumns(b)
	sizes := map[string]int{"filters": 1000, "With": 400, "Rename": 400}
	for _, g := range chains {
		n := 200
		if sizes[g.name] > 0 {
			n = sizes[g.name]
		}
		benchmarkPlanning(b, g, e, r, n)
	}
	for _, g := range doublings {
		benchmarkPlanning(b, g, e, r, 60)
	}
	benchmarkPlanning(b, interpolations, e, r, 30)
}

func benchmarkPlanning(b *testing.B, g growing, e *gpuframe.Engine, r arrow.Record, n int) {
	b.Run(fmt.Sprintf("%d %s", n, g.name), func(b *testing.B) {
		before := processor.Time()
		for b.Loop() {
			_, err := g.make(e, r, n).Needs(b.Context())
			require.NoError(b, err)
		}
		b.ReportMetric(float64((processor.Time()-before).Microseconds())/1e3/float64(b.N), "processor-ms/op")
	})
}

// endingContext is a context that ends when it has been looked at a number of times.
type endingContext struct {
	context.Context
	left atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestPlanningStopsWithItsContext ends the context at each of the first places where planning looks at
// it, and at some later ones.
func TestPlanningStopsWithItsContext(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	r := twoColumns(t)
	q := func() gpuframe.Query { // a plan is kept with its query
		q := chains[5].make(e, r, 20)
		return q.Join(q.GroupBy(planA).Agg(planB.Sum().As("c")), gpuframe.Inner, planA).Drop("c").Union(q).Sort(planA).Head(5)
	}
	counted := &endingContext{Context: t.Context()}
	counted.left.Store(math.MaxInt64)
	_, err := q().Needs(counted)
	require.NoError(t, err)
	looks := math.MaxInt64 - counted.left.Load()
	require.Greater(t, looks, int64(300))
	for at := int64(0); at < looks; at += 1 + at/8 {
		ending := &endingContext{Context: t.Context()}
		ending.left.Store(at)
		_, err := q().Needs(ending)
		require.ErrorIs(t, err, context.Canceled, "after %d looks", at)
	}
}

// TestPatternsStopWithTheirContext ends the context while patterns in one expression are compiled, which
// takes much longer than the rest of planning.
func TestPatternsStopWithTheirContext(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	rows := []struct{ S string }{{"abc"}}
	q := func(round int) gpuframe.Query { // compiled patterns are kept
		var condition gpuframe.Expr
		for i := range 10 {
			matches := gpuframe.Col("S").MatchesRegex(fmt.Sprintf(`(a|b)*a(a|b){7}%d_%d`, round, i))
			if i == 0 {
				condition = matches
			} else {
				condition = condition.Or(matches)
			}
		}
		return gpuframe.From(e, rows).GroupBy(gpuframe.Col("S")).Agg(gpuframe.Count().Where(condition).As("n"))
	}
	counted := &endingContext{Context: t.Context()}
	counted.left.Store(math.MaxInt64)
	_, err := q(0).Needs(counted)
	require.NoError(t, err)
	looks := math.MaxInt64 - counted.left.Load()
	require.Greater(t, looks, int64(1000))
	for round := int64(1); round < 10; round++ {
		ending := &endingContext{Context: t.Context()}
		ending.left.Store(looks * round / 10)
		_, err := q(int(round)).Needs(ending)
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err = gpuframe.From(e, rows).Filter(gpuframe.Col("S").MatchesRegex(`(a|b)*a(a|b){20}`)).Needs(t.Context())
	require.ErrorContains(t, err, "Filter (planning_test.go:")
	require.ErrorContains(t, err, "the automaton is too large")
}

// TestUnionsThatDouble runs unions of a query with itself: few are run, and many are refused before
// memory is taken for them.
func TestUnionsThatDouble(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	r := twoColumns(t)
	for _, g := range doublings[:2] {
		q := g.make(e, r, 5).Select(gpuframe.Count().As("n"))
		require.Len(t, collect(t, q), 1, g.name)
	}
	for _, n := range []int{20, 60} {
		// The number of rows behind the filter is not known, so it does not exceed the budget.
		_, err := doublings[0].make(e, r, n).Filter(planA.Gt(0)).Collect(t.Context())
		require.ErrorIs(t, err, device.ErrNotSupported)
		require.ErrorContains(t, err, "Cache")
		for _, err = range doublings[0].make(e, r, n).Batches(t.Context()) {
			require.ErrorIs(t, err, device.ErrNotSupported)
		}
		require.Error(t, err)
	}
}

// deepVerbs are verbs on tables of the columns a and b, on one or two earlier queries. Unions keep
// few rows, so that their number does not double.
var deepVerbs = []func(q, other gpuframe.Query, k int) gpuframe.Query{
	func(q, _ gpuframe.Query, k int) gpuframe.Query { return q.Filter(planA.Gt(k)) },
	func(q, _ gpuframe.Query, k int) gpuframe.Query {
		return q.Filter(planA.Gt(k).Or(planB.Lt(k)), planB.Ne(k))
	},
	func(q, _ gpuframe.Query, k int) gpuframe.Query { return q.With(planA.Mul(3).Add(k).Mod(11).As("a")) },
	func(q, _ gpuframe.Query, _ int) gpuframe.Query {
		return q.Select(planB.As("a"), planA.Add(planB).Mod(13).As("b"))
	},
	func(q, _ gpuframe.Query, _ int) gpuframe.Query { return q.DropNulls() },
	func(q, _ gpuframe.Query, k int) gpuframe.Query {
		return q.With(gpuframe.If(planA.Eq(k), nil, planA).As("a"))
	},
	func(q, _ gpuframe.Query, _ int) gpuframe.Query { return q.GroupBy(planA).Agg(planB.Max().As("b")) },
	func(q, _ gpuframe.Query, _ int) gpuframe.Query {
		return q.With(planB.Sum().Over(gpuframe.By(planA)).Mod(17).As("b"))
	},
	func(q, _ gpuframe.Query, k int) gpuframe.Query { return q.Sort(planA, planB).Slice(int64(k%3), 9) },
	func(q, other gpuframe.Query, _ int) gpuframe.Query { return q.Union(other).Sort(planA, planB).Head(12) },
	func(q, other gpuframe.Query, _ int) gpuframe.Query {
		return q.Union(other).Filter(planA.Lt(9)).Distinct().Sort(planB, planA).Head(12)
	},
	func(q, other gpuframe.Query, _ int) gpuframe.Query { return q.Join(other, gpuframe.Semi, planA) },
	func(q, other gpuframe.Query, _ int) gpuframe.Query { return q.Join(other, gpuframe.Anti, planB) },
	func(q, other gpuframe.Query, k int) gpuframe.Query {
		keyed := other.GroupBy(planA).Agg(planB.Min().As("c"))
		return q.Join(keyed, gpuframe.Left, planA).With(planB.Add(gpuframe.Col("c").FillNull(k)).Mod(19).As("b")).Drop("c")
	},
}

// TestRandomDeepQueries draws queries of many verbs that read each other. They have the same rows with
// the optimizer and without it, and planning them is linear work.
func TestRandomDeepQueries(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	r := counting(t, 20)
	property.Check(t, func(t *rapid.T) {
		id := gpuframe.Col(r.ColumnName(0))
		queries := []gpuframe.Query{e.Records(nil, r).Select(id.Mod(7).As("a"), id.Mod(5).As("b"))}
		verbs := rapid.IntRange(5, 40).Draw(t, "verbs")
		var drawn []int
		for range verbs {
			verb := rapid.IntRange(0, len(deepVerbs)-1).Draw(t, "verb")
			last := max(len(queries)-3, 0)
			q := queries[rapid.IntRange(last, len(queries)-1).Draw(t, "input")]
			other := queries[rapid.IntRange(0, len(queries)-1).Draw(t, "other")]
			queries = append(queries, deepVerbs[verb](q, other, rapid.IntRange(0, 9).Draw(t, "k")))
			drawn = append(drawn, verb)
		}
		q := queries[len(queries)-1]
		if work := planningWork(t, q); work > uint64(max(mostPerVerb*verbs, mostOfFew)) {
			t.Fatalf("%d allocations for %d verbs: %v", work, verbs, drawn)
		}
		plain, err := q.Without(t.Context(), plan.Passes()...)
		require.NoError(t, err)
		require.Equal(t, sortedRows(t, plain), sortedRows(t, q), "%v", drawn)
	})
}

// sortedRows returns the rows of a query whose order is not specified.
func sortedRows(t *rapid.T, q gpuframe.Query) []string {
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	record, err := f.Record(t.Context())
	require.NoError(t, errors.Join(err, f.Release()))
	defer record.Release()
	rows := make([]string, record.NumRows())
	for i := range rows {
		for _, c := range record.Columns() {
			rows[i] += c.ValueStr(i) + " "
		}
	}
	slices.Sort(rows)
	return rows
}
