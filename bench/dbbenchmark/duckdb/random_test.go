package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

var decimal = &arrow.Decimal128Type{Precision: 18, Scale: 2}

// types are those of keys and of values.
var types = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String,
	arrow.FixedWidthTypes.Date32, decimal,
}

// appendRandom appends one of a few values.
func appendRandom(r *rand.Rand, to array.Builder, distinct int) {
	i := r.IntN(distinct)
	switch to := to.(type) {
	case *array.BooleanBuilder:
		to.Append(i%2 == 1)
	case *array.Int8Builder:
		to.Append(int8(i - distinct/2))
	case *array.Int32Builder:
		to.Append(int32(i-distinct/2) * 1000)
	case *array.Int64Builder:
		to.Append(int64(i-distinct/2) << 33)
	case *array.Uint32Builder:
		to.Append(uint32(i) << 20)
	case *array.Float32Builder:
		to.Append(float32(i-distinct/2) / 8)
	case *array.Float64Builder:
		to.Append(float64(i-distinct/2) / 10)
	case *array.StringBuilder:
		to.Append(strings.Repeat("ab", i%5) + fmt.Sprint(i))
	case *array.Date32Builder:
		to.Append(arrow.Date32FromTime(time.Unix(int64(i)*86400*30, 0).UTC()))
	case *array.Decimal128Builder:
		to.Append(decimal128.FromI64(int64(i-distinct/2) * 12345))
	}
}

// drawTable draws keys k0 and k1, values v and u, and a condition w.
func drawTable(r *rand.Rand, of []arrow.DataType, rows, nulls int) arrow.Record {
	fields := make([]arrow.Field, len(of))
	for i, name := range []string{"k0", "k1", "v", "u", "w"} {
		fields[i] = arrow.Field{Name: name, Type: of[i], Nullable: true}
	}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range fields {
		distinct := []int{7, 3, 100, 20, 2}[i]
		for range rows {
			if r.IntN(100) < nulls {
				b.Field(i).AppendNull()
			} else {
				appendRandom(r, b.Field(i), distinct)
			}
		}
	}
	return b.NewRecord()
}

// compared is an aggregate of gpuframe and of DuckDB.
type compared struct {
	ours    func(v, u expr.Expr) group.Aggregate
	sql     string
	accepts func(v arrow.DataType) bool
}

func one(f func(expr.Expr) group.Aggregate) func(v, u expr.Expr) group.Aggregate {
	return func(v, _ expr.Expr) group.Aggregate { return f(v) }
}

func skipping(f func(expr.Expr) group.Aggregate) func(v, u expr.Expr) group.Aggregate {
	return func(v, _ expr.Expr) group.Aggregate { return f(v).SkipNulls() }
}

func anyType(arrow.DataType) bool { return true }

func isInteger(t arrow.DataType) bool { return arrow.IsInteger(t.ID()) }
func isNumber(t arrow.DataType) bool  { return isInteger(t) || arrow.IsFloating(t.ID()) }
func isSummed(t arrow.DataType) bool  { return isNumber(t) || t.ID() == arrow.DECIMAL128 }
func isBool(t arrow.DataType) bool    { return t.ID() == arrow.BOOL }
func isText(t arrow.DataType) bool    { return t.ID() == arrow.STRING }

var aggregates = []compared{
	{func(expr.Expr, expr.Expr) group.Aggregate { return group.CountAll() }, "count(*)", anyType},
	{one(group.Count), "count(v)", anyType},
	{one(group.CountNull), "count(*) - count(v)", anyType},
	{one(group.Sum), "sum(v)", isSummed},
	{one(group.Mean), "avg(v)", isNumber},
	{one(group.Min), "min(v)", anyType},
	{one(group.Max), "max(v)", anyType},
	{one(group.Any), "bool_or(v)", isBool},
	{one(group.All), "bool_and(v)", isBool},
	{one(group.First), "first(v order by rowid)", anyType},
	{one(group.Last), "last(v order by rowid)", anyType},
	{skipping(group.First), "first(v order by rowid) filter (v is not null%s)", anyType},
	{skipping(group.Last), "last(v order by rowid) filter (v is not null%s)", anyType},
	{one(group.Median), "quantile_cont(v::double, 0.5)", isNumber},
	{func(v, _ expr.Expr) group.Aggregate { return group.Quantile(v, 0.3) }, "quantile_cont(v::double, 0.3)", isNumber},
	{func(v, _ expr.Expr) group.Aggregate { return group.CountDistinct(v) }, "count(distinct v)", anyType},
	{func(v, u expr.Expr) group.Aggregate { return group.CountDistinct(v, u) }, "count(distinct case when v is not null and u is not null then (v, u) end)", anyType},
	{func(v, _ expr.Expr) group.Aggregate { return group.Variance(v, 1) }, "var_samp(v)", isNumber},
	{func(v, _ expr.Expr) group.Aggregate { return group.StdDev(v, 0) }, "stddev_pop(v)", isNumber},
	{func(v, u expr.Expr) group.Aggregate { return group.Covariance(v, u, 1) }, "covar_samp(v, u)", isNumber},
	{func(v, u expr.Expr) group.Aggregate { return group.Correlation(v, u) }, "corr(v, u)", isNumber},
	{one(group.ArgMin), "arg_min(rowid, v)", anyType},
	{one(group.ArgMax), "arg_max(rowid, v)", anyType},
	{one(group.Mode), "mode(v)", anyType},
	{func(v, _ expr.Expr) group.Aggregate { return group.Join(v, "; ") }, "string_agg(v, '; ' order by rowid) filter (v is not null%s)", isText},
	{one(group.Collect), "coalesce(list(v order by rowid), [])", anyType},
	{skipping(group.Collect), "coalesce(list(v order by rowid) filter (v is not null%s), [])", anyType},
	{func(v, _ expr.Expr) group.Aggregate { return group.Largest(v, 3) }, "coalesce(max(v, 3), [])", anyType},
	{func(v, _ expr.Expr) group.Aggregate { return group.Smallest(v, 2) }, "coalesce(min(v, 2), [])", anyType},
}

// query returns the aggregate of DuckDB with its condition.
func (c compared) query(conditional bool) string {
	condition, text := "", c.sql
	if conditional {
		condition = " and w"
	}
	switch {
	case strings.Contains(text, "%s"):
		return fmt.Sprintf(text, condition)
	case !conditional:
		return text
	case strings.HasPrefix(text, "coalesce("):
		return strings.Replace(text, ", [])", " filter (w), [])", 1)
	case strings.Contains(text, " - "):
		return "count(*) filter (w) - count(v) filter (w)"
	}
	return text + " filter (w)"
}

// way is a way to aggregate a table. parts is set for partial results that are merged.
type way struct {
	name   string
	choice strategy.Group
	parts  bool
}

var ways = []way{
	{name: "whole"},
	{name: "partial results", parts: true},
	{name: "divided", choice: strategy.Group{DividedRows: 30, DividedBits: 1}},
	{name: "partitions", choice: strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, TextRows: 1, PlaceBits: 3}},
	{name: "hashes", choice: strategy.Group{Find: strategy.Hashes, Groups: 20, TextRows: 1}},
	{name: "tiles", choice: strategy.Group{Add: strategy.Tiles, TextRows: 1}},
	{name: "records", choice: strategy.Group{Add: strategy.Records, MeasuredRows: 1, TextRows: 1}},
}

// aggregate aggregates the rows of a table.
func (w way) aggregate(ctx context.Context, r *rand.Rand, table *buffer.Buffer, keys []string, aggregates []group.Aggregate) (made *buffer.Buffer, err error) {
	if w.choice != (strategy.Group{}) {
		ctx = strategy.WithGroup(ctx, w.choice)
	}
	if !w.parts {
		return group.By(table, group.Columns(keys...)...).Aggregate(ctx, aggregates)
	}
	var partials []*buffer.Buffer
	defer func() {
		for _, p := range partials {
			err = errors.Join(err, p.Release())
		}
	}()
	for begin := int64(0); begin < table.Capacity(); {
		n := 1 + r.Int64N(table.Capacity()-begin)
		part, failure := table.Slice(begin, n)
		if failure != nil {
			return nil, failure
		}
		partial, failure := group.By(part, group.Columns(keys...)...).Partial(ctx, aggregates, group.ByOptions{FirstRow: begin})
		if failure = errors.Join(failure, part.Release()); failure != nil {
			return nil, failure
		}
		partials, begin = append(partials, partial), begin+n
	}
	return group.Merge(ctx, table.Schema(), partials, aggregates)
}

// TestRandomGroups compares aggregates of random tables with those of DuckDB.
func TestRandomGroups(t *testing.T) {
	p, err := openPeer(2)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.close()) }()
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := rand.New(rand.NewPCG(1, 108))
		rounds := 200
		if testing.Short() || devicetest.Emulated(dev) {
			rounds = 10
		}
		for round := range rounds {
			of := []arrow.DataType{types[r.IntN(len(types))], types[r.IntN(len(types))], types[round%len(types)], arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean}
			record := drawTable(r, of, []int{1, 40, 1000}[r.IntN(3)], []int{0, 10, 60, 100}[r.IntN(4)])
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			require.NoError(t, p.load(t.Context(), map[string]arrow.Record{"x": record}))
			record.Release()
			keys := []string{"k0", "k1"}[:1+r.IntN(2)]
			var ours []group.Aggregate
			theirs := append([]string{}, keys...)
			for i, a := range aggregates {
				if !a.accepts(of[2]) || r.IntN(2) == 0 {
					continue
				}
				conditional, made := r.IntN(3) == 0, a.ours(expr.Col("v"), expr.Col("u"))
				if conditional {
					made = made.Where(expr.Col("w"))
				}
				ours, theirs = append(ours, made.As(fmt.Sprint("a", i))), append(theirs, a.query(conditional))
			}
			if len(ours) == 0 {
				ours, theirs = append(ours, group.CountAll()), append(theirs, "count(*)")
			}
			text := fmt.Sprintf("select %s from x group by %s", strings.Join(theirs, ", "), strings.Join(keys, ", "))
			way := ways[r.IntN(len(ways))]
			made, err := way.aggregate(t.Context(), r, table, keys, ours)
			require.NoError(t, err, "%s: %s\nof %v", way.name, text, of)
			found, err := made.Record(t.Context())
			require.NoError(t, err)
			want, err := p.answer(text, len(keys))
			require.NoError(t, err, text)
			require.Empty(t, answersOf(found, len(keys), false).difference(want), "%s: %s\nof %v", way.name, text, of)
			found.Release()
			require.NoError(t, made.Release())
			require.NoError(t, table.Release())
		}
	})
}

// TestDifferences requires that wrong answers are found.
func TestDifferences(t *testing.T) {
	right := answers{"a|": {1.0, "x", nil, []any{1.0, nil}}}
	require.Empty(t, right.difference(answers{"a|": {1.0 + 1e-12, "x", nil, []any{1.0, nil}}}))
	for _, wrong := range []answers{
		{}, {"b|": right["a|"]}, {"a|": {1.1, "x", nil, []any{1.0, nil}}}, {"a|": {1.0, "y", nil, []any{1.0, nil}}},
		{"a|": {1.0, "x", 0.0, []any{1.0, nil}}}, {"a|": {1.0, "x", nil, []any{1.0}}}, {"a|": {1.0, "x", nil}},
	} {
		require.NotEmpty(t, right.difference(wrong), "%v", wrong)
	}
}
