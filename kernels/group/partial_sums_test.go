package group_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// windowed returns partial results with windows of parts of a table that end at some rows, in memory of
// another manager.
func windowed(t *testing.T, table *buffer.Buffer, to *memory.Manager, key group.Key, aggregates []group.Aggregate, ends ...int64) (made []*buffer.Buffer) {
	t.Helper()
	begin := int64(0)
	for _, end := range ends {
		part, err := table.Slice(begin, end-begin)
		require.NoError(t, err)
		partial, err := group.By(part, key).Partial(strategy.WithGroup(t.Context(), strategy.Group{Add: strategy.Tiles, MeasuredRows: 1}), aggregates, group.ByOptions{FixedPointSums: true})
		require.NoError(t, err)
		record, err := partial.Record(t.Context())
		require.NoError(t, err)
		moved, err := buffer.FromRecord(to, record)
		require.NoError(t, err)
		record.Release()
		require.NoError(t, errors.Join(partial.Release(), part.Release()))
		t.Cleanup(func() { require.NoError(t, moved.Release()) })
		made, begin = append(made, moved), end
	}
	return made
}

// TestPartialFixedPointSums merges partial results of sums in windows, on the device that made them and on the
// host: they are those of the whole table, or ErrInexact. Values of one magnitude are never inexact.
func TestPartialFixedPointSums(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	x := expr.Col("x")
	aggregates := []group.Aggregate{group.Sum(x), group.Mean(x), group.Variance(x, 0), group.Sum(expr.Col("y")).Where(expr.Col("b")), group.CountAll(), group.Max(x), group.Sum(expr.Col("d"))}
	r := rand.New(rand.NewPCG(7, 8))
	inexact := 0
	for name, next := range property.InOrder(spreads) {
		n := 300 + r.IntN(1500)
		record := tileRecord(r, n, 1+r.IntN(7), next)
		defer record.Release()
		for i, key := range []group.Key{{Column: "k"}, {Expr: expr.Lit(int8(1)), Name: "k"}} {
			if brief(mgr) && i == 1 && name != "rare" {
				continue
			}
			whole, err := buffer.FromRecord(host, record)
			require.NoError(t, err)
			answer, err := group.By(whole, key).Aggregate(t.Context(), aggregates, group.ByOptions{Order: group.ByKey})
			require.NoError(t, err)
			want := columntest.Fetch(t, answer)
			require.NoError(t, whole.Release())
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			ends := []int64{int64(n / 3), int64(n / 2), int64(n)}
			for _, to := range []*memory.Manager{mgr, host} {
				parts := windowed(t, table, to, key, aggregates, ends...)
				if i == 0 { // the first two become one
					combined, err := group.Combine(t.Context(), record.Schema(), parts[:2], aggregates)
					require.NoError(t, err)
					t.Cleanup(func() { require.NoError(t, combined.Release()) })
					parts = []*buffer.Buffer{combined, parts[2]}
				}
				merged, err := group.Merge(t.Context(), record.Schema(), parts, aggregates, group.ByOptions{Order: group.ByKey})
				if errors.Is(err, group.ErrInexact) {
					require.NotContains(t, []string{"unit", "whole", "zeros", "cancelling"}, name)
					inexact++
					continue
				}
				require.NoError(t, err)
				got := columntest.Fetch(t, merged)
				for c := range int(want.NumCols()) {
					require.Equal(t, exactTexts(want.Column(c)), exactTexts(got.Column(c)), "%s: %s", name, want.ColumnName(c))
				}
			}
			require.NoError(t, table.Release())
		}
	}
	t.Logf("%d of the merged results were inexact", inexact)
}

// TestInexactFixedPointSums merges windows of magnitudes that are some bins apart. Those that are not inexact
// are the whole table's, and those of the same bins are never inexact.
func TestInexactFixedPointSums(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	const n = 64
	aggregates := []group.Aggregate{group.Sum(expr.Col("x"))}
	differed := 0
	for _, distance := range []int{0, 1, 13, 27, 28, 29, 55, 56, 57, 84, 300} {
		for _, negative := range []bool{false, true} {
			r := rand.New(rand.NewPCG(uint64(distance), 1))
			keys, x := make([]int32, 2*n), make([]float64, 2*n)
			for i := range x {
				x[i] = 1 + r.Float64()
				if negative {
					x[i] -= 3
				}
				if i >= n {
					x[i] = math.Ldexp(x[i], distance)
				}
			}
			table := floatTable(t, mgr, keys, x, x)
			whole, err := group.By(table, group.Columns("k")...).Aggregate(t.Context(), aggregates, group.ByOptions{Order: group.ByKey})
			require.NoError(t, err)
			want := columntest.Fetch(t, whole).Column(1)
			for _, ends := range [][]int64{{n, 2 * n}, {n / 2, n, n + n/2, 2 * n}} {
				parts := windowed(t, table, mgr, group.Columns("k")[0], aggregates, ends...)
				for range 2 { // the order of the parts has no effect
					merged, err := group.Merge(t.Context(), table.Schema(), parts, aggregates)
					if errors.Is(err, group.ErrInexact) {
						differed++
						require.Greater(t, distance, 13)
					} else {
						require.NoError(t, err)
						require.Equal(t, exactTexts(want), exactTexts(columntest.Fetch(t, merged).Column(1)), "distance %d", distance)
						require.Less(t, distance, 84)
					}
					slices.Reverse(parts)
				}
			}
		}
	}
	require.Positive(t, differed)
}

// TestDividedFixedPointSums aggregates chunks of very different magnitudes. FixedPointSums is for Partial: the result of
// Aggregate is exact also if the memory does not fit the budget.
func TestDividedFixedPointSums(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	const n = 64
	keys, x := make([]int32, 2*n), make([]float64, 2*n)
	for i := range x {
		x[i] = math.Ldexp(1.1, i/n*300)
	}
	table := floatTable(t, mgr, keys, x, x)
	var sums []arrow.Array
	for _, choice := range []strategy.Group{{}, {Add: strategy.Tiles, MeasuredRows: 1, DividedRows: n}} {
		groups, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), []group.Aggregate{group.Sum(expr.Col("x"))}, group.ByOptions{FixedPointSums: true})
		require.NoError(t, err)
		sums = append(sums, columntest.Fetch(t, groups).Column(1))
	}
	require.Equal(t, exactTexts(sums[0]), exactTexts(sums[1]))
}

// TestPartialTexts merges partial results by short strings, which become numbers and dense keys.
func TestPartialTexts(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	r := rand.New(rand.NewPCG(9, 10))
	record := keyedTexts(r, 900)
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	aggregates := []group.Aggregate{group.CountAll(), group.Sum(expr.Col("x"))}
	keys := group.Columns("flag", "status")
	options := group.ByOptions{Order: group.ByKey, FixedPointSums: true}
	whole, err := group.By(table, keys...).Aggregate(t.Context(), aggregates, options)
	require.NoError(t, err)
	want := columntest.Fetch(t, whole)
	ctx := strategy.WithGroup(t.Context(), strategy.Group{Add: strategy.Tiles, MeasuredRows: 1, TextRows: 1})
	var parts []*buffer.Buffer
	for begin := int64(0); begin < 900; begin += 300 {
		part, err := table.Slice(begin, 300)
		require.NoError(t, err)
		partial, err := group.By(part, keys...).Partial(ctx, aggregates, options)
		require.NoError(t, err)
		require.NoError(t, part.Release())
		defer func() { require.NoError(t, partial.Release()) }()
		require.True(t, arrow.TypeEqual(arrow.BinaryTypes.String, partial.Schema().Field(0).Type))
		parts = append(parts, partial)
	}
	merged, err := group.Merge(t.Context(), record.Schema(), parts, aggregates, options)
	require.NoError(t, err)
	got := columntest.Fetch(t, merged)
	for c := range int(want.NumCols()) {
		require.Equal(t, exactTexts(want.Column(c)), exactTexts(got.Column(c)), want.ColumnName(c))
	}
}

// keyedTexts has two keys of one byte, with nulls in the second one, and floats.
func keyedTexts(r *rand.Rand, n int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "flag", Type: arrow.BinaryTypes.String}, {Name: "status", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for range n {
		b.Field(0).(*array.StringBuilder).Append(string("ARN"[r.IntN(3)]))
		if r.IntN(5) == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(string("FO"[r.IntN(2)]))
		}
		b.Field(2).(*array.Float64Builder).Append(r.Float64())
	}
	return b.NewRecord()
}
