package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// doubled doubles numbers.
func doubled(_ context.Context, numbers, results []int64) error {
	for i, n := range numbers {
		results[i] = 2 * n
	}
	return nil
}

// TestUserFunctionsEverywhere compares a Go function with the expression that it computes, in every verb.
func TestUserFunctionsEverywhere(t *testing.T) {
	record := counting(t, 300)
	id := gpuframe.Col("id")
	for name, options := range map[string][]gpuframe.FunctionOption{"pure": {gpuframe.Pure()}, "impure": nil} {
		f := gpuframe.GoFunc1("doubled", doubled, options...)
		eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
			rows := e.Records(nil, record.NewSlice(0, 1), record.NewSlice(1, 200), record.NewSlice(200, 300))
			for verb, query := range map[string]func(double func(x any) gpuframe.Expr) gpuframe.Query{
				"filter": func(d func(any) gpuframe.Expr) gpuframe.Query { return rows.Filter(d(id).Gt(500)) },
				"select": func(d func(any) gpuframe.Expr) gpuframe.Query { return rows.Select(d(d(id)).Add(d(id)).As("x"), id) },
				"with":   func(d func(any) gpuframe.Expr) gpuframe.Query { return rows.With(d(id).As("x")).Filter(id.Lt(7)) },
				"sort":   func(d func(any) gpuframe.Expr) gpuframe.Query { return rows.Sort(d(id).Desc()).Head(3) },
				"keys": func(d func(any) gpuframe.Expr) gpuframe.Query {
					return rows.GroupBy(d(id.Mod(3)).As("k")).Agg(d(id).Sum().As("s")).Sort(gpuframe.Col("k"))
				},
				"all rows": func(d func(any) gpuframe.Expr) gpuframe.Query { return rows.Select(d(id).Max().As("m")) },
				"window": func(d func(any) gpuframe.Expr) gpuframe.Query {
					return rows.With(d(id).Sum().Over(gpuframe.By(d(id.Mod(5)))).As("s"))
				},
				"join": func(d func(any) gpuframe.Expr) gpuframe.Query {
					return rows.Join(rows.Select(id.As("other")), gpuframe.Inner, gpuframe.On(d(id), gpuframe.Col("other"))).Sort(id)
				},
				"of nothing": func(d func(any) gpuframe.Expr) gpuframe.Query { return rows.Filter(id.Lt(0)).With(d(id).As("x")) },
				"unread":     func(d func(any) gpuframe.Expr) gpuframe.Query { return rows.With(d(id).As("x")).Select(id).Head(2) },
				"literal":    func(d func(any) gpuframe.Expr) gpuframe.Query { return rows.Head(2).With(d(int64(4)).As("x")) },
			} {
				got := query(func(x any) gpuframe.Expr { return f.Of(x) })
				want := query(func(x any) gpuframe.Expr { return gpuframe.Lit(2).Mul(x) })
				assert.Equal(t, lines(t, want), lines(t, got), "%s, %s", verb, name)
				plain, err := got.Without(t.Context(), plan.Passes()...)
				require.NoError(t, err)
				assert.Equal(t, lines(t, want), lines(t, plain), "%s, %s, without passes", verb, name)
			}
		})
	}
}

// TestUserFunctionPlans tests what moves below a function, and that the plan names it.
func TestUserFunctionPlans(t *testing.T) {
	e := smallEngine(t, 1<<28)
	rows := e.Records(nil, counting(t, 300))
	id := gpuframe.Col("id")
	var called atomic.Int64
	counted := func(ctx context.Context, numbers, results []int64) error {
		called.Add(int64(len(numbers)))
		return doubled(ctx, numbers, results)
	}
	pure, impure := gpuframe.GoFunc1("counted", counted, gpuframe.Pure()), gpuframe.GoFunc1("counted", counted)
	for _, c := range []struct {
		f           gpuframe.UserFunction
		query       func(q gpuframe.Query) gpuframe.Query
		rows, calls int64
	}{
		{pure, func(q gpuframe.Query) gpuframe.Query { return q.Filter(id.Lt(10)) }, 10, 10},
		{impure, func(q gpuframe.Query) gpuframe.Query { return q.Filter(id.Lt(10)) }, 10, 300},
		{pure, func(q gpuframe.Query) gpuframe.Query { return q.Select(id) }, 300, 0},
		{impure, func(q gpuframe.Query) gpuframe.Query { return q.Select(id) }, 300, 300},
		{pure, func(q gpuframe.Query) gpuframe.Query { return q.Head(5) }, 5, 5},
		{impure, func(q gpuframe.Query) gpuframe.Query { return q.Head(5) }, 5, 300},
	} {
		called.Store(0)
		q := c.query(rows.With(c.f.Of(id).As("x"), c.f.Of(id).Add(1).As("y")))
		assert.Len(t, lines(t, q), int(c.rows))
		assert.Equal(t, c.calls, called.Load())
		explained, err := q.Explain(t.Context())
		require.NoError(t, err)
		assert.Contains(t, explained, "call Go function counted(id)")
	}
}

// TestUserFunctionBatches tests that a budget divides the rows of a call.
func TestUserFunctionBatches(t *testing.T) {
	const n = 1 << 16
	e := smallEngine(t, 1<<20)
	id := gpuframe.Col("id")
	var most int
	f := gpuframe.GoFunc1("rows", func(ctx context.Context, numbers, results []int64) error {
		most = max(most, len(numbers))
		return doubled(ctx, numbers, results)
	})
	sum := lines(t, e.Records(nil, counting(t, n)).With(f.Of(id).As("x")).Select(gpuframe.Col("x").Sum()))
	assert.Equal(t, fmt.Sprint(int64(n)*(n-1), "|"), sum[0])
	assert.LessOrEqual(t, most*8, 1<<20/8)
}

func TestUserFunctionFailures(t *testing.T) {
	record := counting(t, 300)
	id := gpuframe.Col("id")
	errModel := errors.New("no model")
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := e.Records(nil, record.NewSlice(0, 100), record.NewSlice(100, 300))
		failing := gpuframe.GoFunc1("model", func(_ context.Context, numbers, _ []int64) error {
			if numbers[0] > 0 {
				return errModel
			}
			return nil
		})
		_, err := rows.With(failing.Of(id)).Collect(t.Context())
		var failure *gpuframe.FunctionError
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, "model", failure.Function)
		require.ErrorIs(t, err, errModel)
		thrown := gpuframe.GoFunc1("model", func(context.Context, []int64, []int64) error { panic("at last") })
		_, err = rows.With(thrown.Of(id)).Collect(t.Context())
		var value *gpuframe.PanicError
		require.ErrorAs(t, err, &value)
		assert.Equal(t, "at last", value.Value)

		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		ending := gpuframe.GoFunc1("ending", func(ctx context.Context, numbers, results []int64) error {
			calls++
			cancel()
			return doubled(ctx, numbers, results)
		})
		_, err = rows.With(ending.Of(id)).Collect(ctx)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 1, calls)
	})
}

func TestUserFunctionProblems(t *testing.T) {
	e := smallEngine(t, 1<<28)
	rows := e.Records(nil, counting(t, 3))
	id := gpuframe.Col("id")
	f := gpuframe.GoFunc1("doubled", doubled)
	for text, q := range map[string]gpuframe.Query{
		"function doubled: argument 1 is float64, expected int64: use Cast": rows.With(f.Of(id.Cast(arrow.PrimitiveTypes.Float64))),
		"function doubled: 2 arguments, expected 1":                         rows.With(f.Of(id, id)),
		"an argument of function doubled has an aggregate":                  rows.With(f.Of(id.Sum())),
		"the Go function is nil":                                            rows.With(gpuframe.GoFunc1[int64, int64]("f", nil).Of(id)),
		"no column is called \"missing\"":                                   rows.With(f.Of(gpuframe.Col("missing"))),
		"is no key and in no aggregate":                                     rows.GroupBy(id).Agg(f.Of(id)),
		"chan":                                                              rows.With(gpuframe.GoFunc1("f", func(context.Context, []int64, []chan int) error { return nil }).Of(id)),
		"":                                                                  rows.With(gpuframe.UserFunction{}.Of(id)),
	} {
		_, err := q.Schema(t.Context())
		require.ErrorContains(t, err, text)
		assert.False(t, strings.Contains(err.Error(), "\x00"), "%q", err)
	}
}

// TestUserFunctionsOnSeveralDevices compares one device with two.
func TestUserFunctionsOnSeveralDevices(t *testing.T) {
	record := counting(t, 1000)
	id := gpuframe.Col("id")
	for _, options := range [][]gpuframe.FunctionOption{nil, {gpuframe.Pure()}} {
		f := gpuframe.GoFunc1("doubled", doubled, options...)
		query := func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, record.NewSlice(0, 400), record.NewSlice(400, 1000)).With(f.Of(id).As("x")).
				Filter(gpuframe.Col("x").Gt(10)).GroupBy(id.Mod(7).As("k")).Agg(gpuframe.Col("x").Sum().As("s")).Sort(gpuframe.Col("k"))
		}
		engine := openDevices(t, devicetest.Hosts(t, 2))
		assert.Equal(t, lines(t, query(smallEngine(t, 1<<28))), lines(t, query(engine)))
	}
}
