package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/callcount"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// openCounted opens an engine on a device that counts the calls of its driver, with a table of
// a thousand rows.
func openCounted(t testing.TB) (*gpuframe.Engine, *callcount.Device, *buffer.Buffer) {
	t.Helper()
	name, counted, err := callcount.Register(kerneltest.Open(t))
	require.NoError(t, err)
	e, err := gpuframe.Open(gpuframe.Device(name))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e, counted, fewRows(t, e, 1)
}

// fewRows returns a table of a thousand rows with 100 keys.
func fewRows(t testing.TB, e *gpuframe.Engine, factor int) *buffer.Buffer {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.PrimitiveTypes.Int32}, {Name: "value", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 1000 {
		b.Field(0).(*array.Int32Builder).Append(int32(i * 7 % 100))
		b.Field(1).(*array.Float64Builder).Append(float64(i*factor%1000) / 3)
	}
	record := b.NewRecord()
	defer record.Release()
	table, err := buffer.FromRecord(e.Manager(), record)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

// fiveVerbs is a query of five verbs.
func fiveVerbs(e *gpuframe.Engine, table *buffer.Buffer) gpuframe.Query {
	value := gpuframe.Col("value")
	return e.Table(table).
		Filter(value.Gt(10.0)).
		With(value.Mul(2.0).As("double")).
		GroupBy(gpuframe.Col("key")).Agg(gpuframe.Col("double").Sum().As("sum")).
		Sort(gpuframe.Col("sum").Desc()).
		Head(10)
}

var (
	directFilter  = expr.Col("value").Gt(expr.Lit(10.0))
	directProject = []expr.Expr{expr.Col("key"), expr.Col("value").Mul(expr.Lit(2.0)).As("double")}
	directSum     = []group.Aggregate{group.Sum(expr.Col("double")).As("sum")}
	directKeys    = group.Columns("key")
)

// directly does the same by calls of the operators.
func directly(ctx context.Context, e *gpuframe.Engine, table *buffer.Buffer) (*buffer.Buffer, error) {
	options := kernels.Options{Manager: e.Manager()}
	filtered, err := selection.Filter(ctx, table, directFilter, options)
	if err != nil {
		return nil, err
	}
	projected, err := expr.Project(ctx, filtered, directProject, options)
	if err != nil {
		return nil, err
	}
	grouped, err := group.By(projected, directKeys...).Aggregate(ctx, directSum, group.ByOptions{Options: options})
	if err != nil {
		return nil, err
	}
	sorted, err := order.Sort(ctx, grouped, []order.Key{{Column: "sum", Descending: true}}, options)
	if err != nil {
		return nil, err
	}
	rows, err := sorted.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	first, err := sorted.Slice(0, min(rows, 10))
	for _, t := range []*buffer.Buffer{sorted, grouped, projected, filtered} {
		if err := t.Release(); err != nil {
			return nil, err
		}
	}
	return first, err
}

// TestSecondRunCompilesNothing counts what runs of one query, and of other queries of its shape, do
// after the first one: no plan is made, no code is compiled or loaded, and the driver is called no
// more often than by the operators without a query.
func TestSecondRunCompilesNothing(t *testing.T) {
	e, counted, table := openCounted(t)
	// what returns the calls of a run after the first two.
	what := func(run func() error) map[string]int {
		var calls callcount.Calls
		for range 3 {
			counted.Take()
			require.NoError(t, run())
			calls = counted.Take()
		}
		delete(calls.Count, callcount.Query) // as often as a wait looks
		return calls.Count
	}
	direct := what(func() error {
		made, err := directly(t.Context(), e, table)
		require.NoError(t, err)
		return made.Release()
	})
	require.Zero(t, e.Planned())
	same := fiveVerbs(e, table)
	other := fewRows(t, e, 3)
	for name, query := range map[string]func() gpuframe.Query{
		"same query":                  func() gpuframe.Query { return same },
		"same shape":                  func() gpuframe.Query { return fiveVerbs(e, table) },
		"same shape of another table": func() gpuframe.Query { return fiveVerbs(e, other) },
	} {
		t.Run(name, func(t *testing.T) {
			calls := what(func() error {
				made, err := query().Collect(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, 1, e.Planned())
				return made.Release()
			})
			for _, none := range []string{callcount.Load, callcount.Compile} {
				require.Zero(t, calls[none], none)
			}
			for call, n := range calls {
				require.LessOrEqual(t, n, direct[call], call)
			}
		})
	}
}

// TestPlansOfOneShape compares queries of one shape on several tables with operators.
func TestPlansOfOneShape(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	tables := make([]*buffer.Buffer, 4)
	for i := range tables {
		tables[i] = fewRows(t, e, i+1)
	}
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			table := tables[i%len(tables)]
			made, err := fiveVerbs(e, table).Collect(t.Context())
			assert.NoError(t, err)
			expected, err := directly(t.Context(), e, table)
			assert.NoError(t, err)
			a, err := made.Record(t.Context())
			assert.NoError(t, err)
			b, err := expected.Record(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, fmt.Sprint(b.Columns()), fmt.Sprint(a.Columns()))
			a.Release()
			b.Release()
			assert.NoError(t, errors.Join(made.Release(), expected.Release()))
		})
	}
	group.Wait()
}

// TestShapes compares the shapes of queries that differ in one argument each.
func TestShapes(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	few, other := fewRows(t, e, 1), fewRows(t, e, 2)
	head, err := few.Slice(0, 999)
	require.NoError(t, err)
	defer func() { require.NoError(t, head.Release()) }()
	key, value := gpuframe.Col("key"), gpuframe.Col("value")
	on := func(table *buffer.Buffer) []gpuframe.Query {
		q := e.Table(table)
		shared := q.Filter(key.Gt(1))
		return []gpuframe.Query{
			q, q.Filter(key.Gt(1)), q.Filter(key.Gt(2)), q.Filter(key.Gt(int64(1))), q.Filter(key.Gt(1), value.Gt(1)), q.Filter(key.Ge(1)),
			q.With(value.Mul(2).As("x")), q.With(value.Mul(2).As("y")), q.With(value.Mul(2)), q.Select(value.Mul(2)), q.Select(value.Sum()),
			q.Select(value.Sum().Over(gpuframe.By(key))), q.Select(value.Sum().Over(gpuframe.By(value))), q.Select(value.Max()), q.Drop("key"), q.Drop("value"),
			q.Rename("key", "k"), q.Rename("value", "k"), q.Sort(key), q.Sort(key.Desc()), q.Sort(key.Desc().NullsFirst()), q.Sort(key, value), q.Top(3, key), q.Top(4, key),
			q.Head(3), q.Head(4), q.Tail(3), q.Slice(1, 3), q.Slice(2, 3), q.Distinct(), q.Distinct("key"), q.DropNulls(), q.DropNulls("key"),
			q.GroupBy(key).Agg(value.Sum()), q.GroupBy(key).DropNulls().Agg(value.Sum()), q.GroupBy(value).Agg(value.Sum()), q.GroupBy(key).Agg(value.Sum().As("s")),
			q.Union(q), q.Union(e.Table(table)), q.Union(q, q), shared.Union(shared), shared.Union(q.Filter(key.Gt(1))),
			q.Except(shared), q.ExceptAll(shared), q.Intersect(shared), q.IntersectAll(shared),
			q.Join(q, gpuframe.Inner, key), q.Join(q, gpuframe.Left, key), q.Join(q, gpuframe.Inner, value), q.Join(q, gpuframe.Inner, key, gpuframe.Suffix("_2")),
			q.Join(q, gpuframe.Inner, key, gpuframe.NullsMatch()), q.Join(q, gpuframe.Inner, gpuframe.On(key, value)), q.Join(q, gpuframe.Inner, key, gpuframe.Matching(value.Gt(1))),
			q.FillNull(1.0, "value"), q.FillNull(2.0, "value"),
		}
	}
	a, b, c := on(few), on(other), on(head)
	place := gpuframe.Place{Verb: "the same name"}
	for i, q := range a {
		for j := range a {
			require.Equal(t, i == j, q.SameShape(b[j]), "query %d on a table, and %d on another", i, j)
			require.Equal(t, i == j, q.At(place).SameShape(b[j].At(place)), "query %d on a table, and %d on another, with a name of their verbs", i, j)
			require.False(t, q.SameShape(c[j]), "of another number of rows")
		}
	}
	for i, q := range []gpuframe.Query{e.Table(few).Cache(), e.Table(few).Sample(0.5, gpuframe.SampleOptions{}), gpuframe.From(e, []struct{ X int }{{1}})} {
		require.False(t, q.SameShape(q), "query %d has no plan to keep", i)
	}
}

// TestKeptPlanOfTablesReadTwice compares queries that read a table in two steps with those that read two tables, in
// both orders.
func TestKeptPlanOfTablesReadTwice(t *testing.T) {
	key := gpuframe.Col("key")
	for _, twiceFirst := range []bool{true, false} {
		e, err := gpuframe.Open(gpuframe.Device("host"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		few, other := e.Table(fewRows(t, e, 1)), e.Table(fewRows(t, e, 2))
		total := func(q gpuframe.Query) string {
			sum, err := few.Union(q).Select(gpuframe.Col("value").Sum(), key.Sum()).Collect(t.Context())
			require.NoError(t, err)
			defer sum.Release()
			record, err := sum.Record(t.Context())
			require.NoError(t, err)
			defer record.Release()
			return fmt.Sprint(record.Columns())
		}
		same, another := few.At(gpuframe.Place{Verb: "again"}), other
		require.False(t, few.Union(same).SameShape(few.Union(another)))
		var twice, once string
		if twiceFirst {
			twice, once = total(same), total(another)
		} else {
			once, twice = total(another), total(same)
		}
		require.NotEqual(t, twice, once)
		require.Equal(t, twice, total(few), "one step, used twice")
	}
}

// TestKeptPlanOfWrongExpression makes an expression with an error that has the operations and the name of
// one that was planned.
func TestKeptPlanOfWrongExpression(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	q, value := e.Table(fewRows(t, e, 1)), gpuframe.Col("value")
	_, err = q.Select(value).Needs(t.Context())
	require.NoError(t, err)
	var wrong *gpuframe.QueryError
	_, err = q.Select(value.SkipNulls()).Needs(t.Context())
	require.ErrorAs(t, err, &wrong)
	_, err = q.Join(q, gpuframe.Inner, gpuframe.Col("key")).Needs(t.Context())
	require.NoError(t, err)
	_, err = q.Join(q, gpuframe.Inner, gpuframe.Col("key"), nil).Needs(t.Context())
	require.ErrorAs(t, err, &wrong)
}

// TestArgumentsAreCopied changes the slices that were arguments of verbs.
func TestArgumentsAreCopied(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	q := e.Table(fewRows(t, e, 1))
	names := []string{"value"}
	expressions := []gpuframe.Expression{gpuframe.Col("value").As("x")}
	keys := []gpuframe.Ordering{gpuframe.Col("key")}
	queries := []gpuframe.Query{
		q.Drop(names...), q.Distinct(names...), q.DropNulls(names...), q.Unpivot(names), q.FillNull(1.0, names...),
		q.Select(expressions), q.With(expressions...), q.GroupBy(gpuframe.Col("key")).Agg(gpuframe.Count(), gpuframe.Count().As("x")),
		q.GroupBy(expressions).Agg(gpuframe.Count()), q.Sort(keys...), q.Top(2, keys...),
	}
	explained := func() (plans []string) {
		for _, q := range queries {
			text, err := q.Explain(t.Context())
			require.NoError(t, err)
			plans = append(plans, text)
		}
		return plans
	}
	want := explained()
	names[0], expressions[0], keys[0] = "nothing", gpuframe.Col("nothing"), gpuframe.Col("nothing")
	require.Equal(t, want, explained())
}

// BenchmarkFiveVerbs measures the time of the host, without launches.
func BenchmarkFiveVerbs(b *testing.B) {
	e, counted, table := openCounted(b)
	same := fiveVerbs(e, table)
	for _, run := range []struct {
		name string
		run  func() error
	}{
		{"directly", func() error {
			made, err := directly(b.Context(), e, table)
			require.NoError(b, err)
			return made.Release()
		}},
		{"same query", func() error {
			made, err := same.Collect(b.Context())
			require.NoError(b, err)
			return made.Release()
		}},
		{"same shape", func() error {
			made, err := fiveVerbs(e, table).Collect(b.Context())
			require.NoError(b, err)
			return made.Release()
		}},
	} {
		b.Run(run.name, func(b *testing.B) {
			counted.Discard = false
			require.NoError(b, run.run())
			counted.Discard = true
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, run.run())
			}
		})
	}
}
