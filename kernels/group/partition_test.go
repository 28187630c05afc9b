package group_test

import (
	"context"
	"fmt"
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

// partitionDraws are distributions of n keys in [0, groups).
var partitionDraws = map[string]func(r *rand.Rand, row, n, groups int) int{
	"uniform":  func(r *rand.Rand, _, _, groups int) int { return r.IntN(groups) },
	"equal":    func(_ *rand.Rand, _, _, groups int) int { return groups / 2 },
	"sorted":   func(_ *rand.Rand, row, n, groups int) int { return row * groups / n },
	"distinct": func(_ *rand.Rand, row, _, groups int) int { return row * 7919 % groups },
	"skewed": func(r *rand.Rand, _, _, groups int) int {
		if r.IntN(10) > 0 {
			return 3
		}
		return r.IntN(groups)
	},
}

// partitionRecord has integer keys with the values of a distribution, with and without nulls,
// and values of the types that partitions add up.
func partitionRecord(r *rand.Rand, draw func(r *rand.Rand, row, n, groups int) int, n, groups int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "wide", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "tiny", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "f64", Type: arrow.PrimitiveTypes.Float64}, {Name: "f32", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "i64", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "u64", Type: arrow.PrimitiveTypes.Uint64}, {Name: "i16", Type: arrow.PrimitiveTypes.Int16},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, -math.MaxFloat64, 0x1p-300}
	for row := range n {
		key := draw(r, row, n, groups)
		b.Field(0).(*array.Int32Builder).Append(int32(key - groups/3))
		if wide := b.Field(1).(*array.Int64Builder); r.IntN(50) == 0 {
			wide.AppendNull()
		} else {
			wide.Append(-1<<35 + int64(key/2))
		}
		b.Field(2).(*array.Uint8Builder).Append(uint8(r.IntN(5)))
		x := r.NormFloat64() * math.Ldexp(1, r.IntN(40)*r.IntN(2))
		if r.IntN(200) == 0 {
			x = special[r.IntN(len(special))]
		}
		b.Field(3).(*array.Float64Builder).Append(x)
		if f32 := b.Field(4).(*array.Float32Builder); r.IntN(4) == 0 {
			f32.AppendNull()
		} else {
			f32.Append(float32(x))
		}
		if i64 := b.Field(5).(*array.Int64Builder); r.IntN(3) == 0 {
			i64.AppendNull()
		} else {
			i64.Append(int64(r.Uint64()) >> r.IntN(64))
		}
		b.Field(6).(*array.Uint64Builder).Append(r.Uint64() >> r.IntN(64))
		b.Field(7).(*array.Int16Builder).Append(int16(r.Uint32()))
		b.Field(8).(*array.Date32Builder).Append(arrow.Date32(r.IntN(100) - 50))
	}
	return b.NewRecord()
}

// partitionAggregates are lists of aggregates that partitions compute.
func partitionAggregates() [][]group.Aggregate {
	f64, f32, i64, u64, i16, day := expr.Col("f64"), expr.Col("f32"), expr.Col("i64"), expr.Col("u64"), expr.Col("i16"), expr.Col("day")
	positive := f64.Gt(expr.Lit(0.0))
	return [][]group.Aggregate{
		{group.Sum(f64)},
		{group.CountAll(), group.Mean(f64), group.Sum(i16)},
		{group.Sum(i64), group.Mean(i64), group.Count(i64), group.Sum(f32), group.Min(f32)},
		{group.Sum(u64), group.Max(u64), group.Mean(u64), group.Min(i16), group.Max(day)},
		{group.Sum(f64).Where(positive), group.Count(f32).Where(positive), group.Max(f64), group.Min(f64), group.Max(i64).Where(f32.Lt(expr.Lit(float32(1))))},
		{group.CountAll()},
	}
}

// TestPartitions compares partitions of any size with the host. Small chunks are merged by
// the last block of a partition.
func TestPartitions(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	mgr := devicetest.Manager(t, dev, memory.Options{})
	choices := []strategy.Group{{}, {PlaceBits: 6}, {Without: strategy.SortedPartitions}, {Without: strategy.PlainMoves, PlaceBits: 5, DigitBits: 1}, {PlaceBits: 6, PartitionThreads: 1024, ChunkRows: 700}, {PlaceBits: 7, DigitBits: 1, MoveRows: 8, ChunkRows: 300}}
	names := []string{"uniform", "equal", "sorted", "distinct", "skewed"}
	keys := [][]string{{"k"}, {"wide"}, {"tiny", "k"}, {"wide", "tiny"}, {"u64"}, {"f32", "tiny"}} // the last two by numbers
	first := 0
	if !testing.Short() {
		first = property.Turn(t)
	}
	for series := range 3 {
		if !ofTurn(mgr, first+series, 3) {
			continue
		}
		r := rand.New(rand.NewPCG(21, 22+uint64(series)))
		for round, name := range names {
			n := []int{1, 500, 2500, 7000}[r.IntN(4)]
			if round < 2 {
				n = 7000
			}
			groups := 1 + r.IntN(max(n, 3))
			record := partitionRecord(r, partitionDraws[name], n, groups)
			hosted, err := buffer.FromRecord(host, record)
			require.NoError(t, err)
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			record.Release()
			for i, list := range partitionAggregates() {
				if !ofTurn(mgr, i+round+first+1, 2) {
					continue
				}
				key, choice := keys[r.IntN(len(keys))], choices[(i+round)%len(choices)]
				choice.Find, choice.Add, choice.MeasuredRows, choice.SortedRows = strategy.Partitions, strategy.Partitions, 1, 1
				title := fmt.Sprintf("%s, %d rows, %d groups, keys %v, list %d, %+v", name, n, groups, key, i, choice)
				options := group.ByOptions{Order: []group.Order{group.ByKey, group.FirstAppearance}[r.IntN(2)]}
				if r.IntN(2) == 0 {
					options.Nulls = group.DropNulls
				}
				want, err := group.By(hosted, group.Columns(key...)...).Aggregate(t.Context(), list, options)
				require.NoError(t, err, title)
				got, err := group.By(table, group.Columns(key...)...).Aggregate(strategy.WithGroup(t.Context(), choice), list, options)
				require.NoError(t, err, title)
				requireEqual(t, columntest.Fetch(t, want), columntest.Fetch(t, got), title)
			}
			require.NoError(t, hosted.Release())
			require.NoError(t, table.Release())
		}
	}
}

// TestRoundedSumsOfPartitions compares sums of one to five floats of all exponents with the host: sums that
// cancel, that are half way between two floats or nearly so, subnormal, and too large.
func TestRoundedSumsOfPartitions(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	r := rand.New(rand.NewPCG(27, 28))
	var keys []int32
	var values []float64
	exponent := 0
	for group := range 640 {
		if group%8 == 0 { // those of a partition
			exponent = []int{r.IntN(2110) - 1080, 1000 + r.IntN(28), r.IntN(120) - 1040}[r.IntN(3)]
		}
		for range 1 + r.IntN(5) {
			x := math.Ldexp(1+float64(r.IntN(3))*r.Float64(), exponent-[]int{0, 0, 1, 52, 53, 54, 55, 106, r.IntN(120)}[r.IntN(9)])
			if math.IsInf(x, 0) {
				x = math.MaxFloat64
			}
			if r.IntN(6) == 0 && len(values) > 0 {
				x = -math.Nextafter(values[len(values)-1], 0)
			} else {
				x = math.Copysign(x, r.Float64()-0.4)
			}
			keys, values = append(keys, int32(group)), append(values, x)
		}
	}
	var answers []arrow.Record
	for _, m := range []*memory.Manager{host, mgr} {
		table := floatTable(t, m, keys, values, values)
		ctx := strategy.WithGroup(t.Context(), strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 3})
		made, err := group.By(table, group.Columns("k")...).Aggregate(ctx, []group.Aggregate{group.Sum(expr.Col("x"))}, group.ByOptions{Order: group.ByKey})
		require.NoError(t, err)
		answers = append(answers, columntest.Fetch(t, made))
	}
	requireEqual(t, answers[0], answers[1], "rounded sums")
}

// requireEqual compares records, floats by their bits.
func requireEqual(t *testing.T, want, got arrow.Record, title string) {
	t.Helper()
	require.Equal(t, want.NumRows(), got.NumRows(), title)
	for i := range want.NumCols() {
		require.Equal(t, columntest.Texts(want.Column(int(i))), columntest.Texts(got.Column(int(i))), "%s, column %s", title, want.ColumnName(int(i)))
	}
}

// TestPartitionsByModel compares counts and sums with a map, and requires the order of the keys,
// which only partitions have.
func TestPartitionsByModel(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	r := rand.New(rand.NewPCG(23, 24))
	const n = 7000
	keys, values := make([]int32, n), make([]float64, n)
	counts, sums := map[int32]int64{}, map[int32]float64{}
	for i := range keys {
		keys[i], values[i] = int32(r.IntN(5000))-100, float64(r.IntN(1000))
		counts[keys[i]]++
		sums[keys[i]] += values[i]
	}
	table := floatTable(t, mgr, keys, values, values)
	for _, choice := range []strategy.Group{{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1}, {Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 8, DigitBits: 1}} {
		result, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), []group.Aggregate{group.CountAll(), group.Sum(expr.Col("x"))})
		require.NoError(t, err)
		record := columntest.Fetch(t, result)
		found := record.Column(0).(*array.Int32).Int32Values()
		require.True(t, slices.IsSorted(found))
		require.Len(t, found, len(counts))
		for i, key := range found {
			require.Equal(t, counts[key], record.Column(1).(*array.Int64).Value(i), "key %d", key)
			require.Equal(t, sums[key], record.Column(2).(*array.Float64).Value(i), "key %d", key)
		}
	}
}

// TestPartitionsOfACancelledCall releases everything.
func TestPartitionsOfACancelledCall(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	table := floatTable(t, mgr, []int32{5, 1, 5}, []float64{1, 2, 3}, []float64{1, 2, 3})
	ctx, cancel := context.WithCancel(strategy.WithGroup(t.Context(), strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1}))
	cancel()
	_, err := group.By(table, group.Columns("k")...).Aggregate(ctx, []group.Aggregate{group.Sum(expr.Col("x"))})
	require.ErrorIs(t, err, context.Canceled)
}

// TestPartitionsAboveTheBudget adds up groups with numbers in the way that needs less memory.
func TestPartitionsAboveTheBudget(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	const n = 5000
	record := partitionRecord(rand.New(rand.NewPCG(25, 26)), partitionDraws["uniform"], n, 100)
	defer record.Release()
	var answers []arrow.Record
	var needed uint64
	for _, choice := range []strategy.Group{{}, {Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 1, DigitBits: 1, ChunkRows: 1}} {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: needed})
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		// The keys have a large range, so they get numbers.
		keys := group.Key{Expr: expr.Col("wide").Mul(expr.Lit(int64(1) << 23)), Name: "k"}
		made, err := group.By(table, keys).Aggregate(strategy.WithGroup(t.Context(), choice), partitionAggregates()[3], group.ByOptions{Order: group.FirstAppearance})
		require.NoError(t, err)
		needed = mgr.Stats().Peak
		answers = append(answers, columntest.Fetch(t, made))
		require.NoError(t, table.Release())
	}
	requireEqual(t, answers[0], answers[1], "with and without partitions")
}
