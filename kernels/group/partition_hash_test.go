package group_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/callcount"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/kerneltest"
	"github.com/gpuframe/gpuframe/memory"
)

// scatteredRecord is n rows with scattered keys: k of 64 bits, of which one in eight rows has a special
// value, j of 32 bits, and texts of 64 bits t.
func scatteredRecord(r *rand.Rand, n, groups int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "j", Type: arrow.PrimitiveTypes.Uint32}, {Name: "t", Type: arrow.BinaryTypes.String},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 20, Scale: 2}},
	}, nil)
	special := []int64{math.MinInt64 + 1, math.MinInt64, math.MaxInt64, 0, -1}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for range n {
		of := uint64(r.IntN(groups)+1) * 0x9e3779b97f4a7c15
		key := int64(of)
		if r.IntN(8) == 0 {
			key = special[r.IntN(len(special))]
		}
		b.Field(0).(*array.Int64Builder).Append(key)
		b.Field(1).(*array.Uint32Builder).Append(uint32(of >> 20))
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("id%010d", of>>31))
		b.Field(3).(*array.Float64Builder).Append(r.NormFloat64())
		b.Field(4).(*array.Decimal128Builder).AppendValueFromString(fmt.Sprintf("%d.%02d", r.IntN(1000), r.IntN(100)))
	}
	return b.NewRecord()
}

// TestPartitionsByHashes compares partitions of scattered keys with the host, also with more keys than
// slots.
func TestPartitionsByHashes(t *testing.T) {
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	r := rand.New(rand.NewPCG(81, 82))
	x, d := expr.Col("x"), expr.Col("d")
	lists := [][]group.Aggregate{
		{group.Sum(x)},
		{group.CountAll(), group.Mean(x).Where(x.Gt(expr.Lit(0.0))), group.Sum(d), group.Max(expr.Col("j"))},
	}
	choices := []strategy.Group{{}, {PlaceBits: 4}, {PlaceBits: 3, DigitBits: 1, MoveRows: 8}, {PlaceBits: 7, PartitionThreads: 1024, ChunkRows: 200}}
	for i, key := range []string{"k", "j", "t", "k", "j"} {
		groups := []int{300, 1, 700, 40, 900}[i]
		record := scatteredRecord(r, 1500, groups)
		for j, list := range lists {
			choice := choices[(i+j)%len(choices)]
			choice.TextRows = 1
			// Tables for a third of the groups are too small.
			choice.Find, choice.Groups = strategy.Hashes, []int{groups + 5, max(groups/3, 1)}[(i+j)%2]
			title := fmt.Sprintf("key %s, %d groups, list %d, %+v", key, groups, j, choice)
			var answers []*buffer.Buffer
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				made, err := group.By(table, group.Columns(key)...).Aggregate(strategy.WithGroup(t.Context(), choice), list, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err, title)
				require.NoError(t, table.Release())
				answers = append(answers, made)
			}
			want, got := columntest.Fetch(t, answers[0]), columntest.Fetch(t, answers[1])
			require.True(t, want.Schema().Equal(got.Schema()), "%s: %v, %v", title, want.Schema(), got.Schema())
			requireEqual(t, want, got, title)
		}
		record.Release()
	}
}

// TestHashesAreUsed requires an order of groups other than those of the first rows and of the keys.
func TestHashesAreUsed(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	record := scatteredRecord(rand.New(rand.NewPCG(83, 84)), 400, 100)
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	ctx := strategy.WithGroup(t.Context(), strategy.Group{Find: strategy.Hashes, Groups: 110})
	var orders [3][]string
	for i := range orders {
		made, err := group.By(table, group.Columns("k")...).Aggregate(ctx, []group.Aggregate{group.Sum(expr.Col("x"))}, group.ByOptions{Order: group.Order(i)})
		require.NoError(t, err)
		orders[i] = columntest.Texts(columntest.Fetch(t, made).Column(0))
	}
	require.NoError(t, table.Release())
	require.NotEqual(t, orders[0], orders[1])
	require.NotEqual(t, orders[0], orders[2])
	slices.Sort(orders[0])
	slices.Sort(orders[1])
	require.Equal(t, orders[0], orders[1])
}

// hashRecord has keys k of a distribution, scattered over all integers of 64 bits, texts t of the same, and values x.
func hashRecord(r *rand.Rand, draw func(r *rand.Rand, row, n, groups int) int, n, groups int) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "t", Type: arrow.BinaryTypes.String}, {Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}, nil))
	defer b.Release()
	for row := range n {
		key := draw(r, row, n, groups)
		b.Field(0).(*array.Int64Builder).Append(int64(uint64(key) * 0x9e3779b97f4a7c15))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("id%09d", key*99_991))
		b.Field(2).(*array.Float64Builder).Append(r.NormFloat64())
	}
	return b.NewRecord()
}

// TestHashesByEstimate compares groups of every distribution with the host, with tables for an estimate of
// the groups. It compares the estimate that the column remembers with the number of groups.
func TestHashesByEstimate(t *testing.T) {
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	r := rand.New(rand.NewPCG(85, 86))
	list := []group.Aggregate{group.Sum(expr.Col("x")), group.CountAll()}
	choices := []strategy.Group{{}, {MeasuredRows: 1, PlaceBits: 7}, {MeasuredRows: 1, PlaceBits: 7, ChunkRows: 250}, {PlaceBits: 7, DigitBits: 1, ChunkRows: 300}}
	for i, name := range slices.Sorted(maps.Keys(partitionDraws)) {
		const n = 1200
		record := hashRecord(r, partitionDraws[name], n, []int{n, 40, 300}[i%3])
		hosted, err := buffer.FromRecord(host, record)
		require.NoError(t, err)
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		record.Release()
		for j, key := range []string{"k", "t", "k"} {
			if brief(mgr) && j > 1 {
				break
			}
			choice := choices[(i+j)%len(choices)]
			choice.Find, choice.TextRows = strategy.Hashes, 1
			title := fmt.Sprintf("%s, key %s, %+v", name, key, choice)
			ctx := strategy.WithGroup(t.Context(), choice)
			want, err := group.By(hosted, group.Columns(key)...).Aggregate(ctx, list, group.ByOptions{Order: group.ByKey})
			require.NoError(t, err, title)
			got, err := group.By(table, group.Columns(key)...).Aggregate(ctx, list, group.ByOptions{Order: group.ByKey})
			require.NoError(t, err, title)
			expected := columntest.Fetch(t, want)
			requireEqual(t, expected, columntest.Fetch(t, got), title)
			c, err := table.ColumnByName(key)
			require.NoError(t, err)
			if estimate, known := c.DistinctEstimate(); name != "equal" { // equal keys have a small range
				require.True(t, known, title)
				require.InEpsilon(t, expected.NumRows(), estimate, 5*0.023, title)
			}
		}
		require.NoError(t, hosted.Release())
		require.NoError(t, table.Release())
	}
}

// TestWrongEstimates gives a column estimates that are far from the number of its values. The results are those of
// the host.
func TestWrongEstimates(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	record := hashRecord(rand.New(rand.NewPCG(95, 96)), partitionDraws["uniform"], 800, 200)
	defer record.Release()
	list := []group.Aggregate{group.Sum(expr.Col("x")), group.CountAll()}
	of := func(mgr *memory.Manager, choice strategy.Group, estimate uint64) arrow.Record {
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		table.Column(0).LearnDistinctEstimate(estimate)
		made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), list, group.ByOptions{Order: group.ByKey})
		require.NoError(t, err)
		require.NoError(t, table.Release())
		return columntest.Fetch(t, made)
	}
	want := of(devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), strategy.Group{}, 0)
	for i, estimate := range []uint64{0, 1, 90, 3000} {
		choice := strategy.Group{Find: strategy.Hashes, PlaceBits: 7, ChunkRows: []int{0, 300}[i%2]}
		requireEqual(t, want, of(mgr, choice, estimate), fmt.Sprintf("an estimate of %d", estimate))
	}
}

// TestOrderOfHashes requires the same order of groups for the same keys in another order of rows, also
// if one key has most of the rows: neither the rows nor the order of the threads decides it.
func TestOrderOfHashes(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	r := rand.New(rand.NewPCG(87, 88))
	for _, choice := range []strategy.Group{{Find: strategy.Hashes, PlaceBits: 6}, {Find: strategy.Hashes, PlaceBits: 7, ChunkRows: 200}} {
		ctx, keys := strategy.WithGroup(t.Context(), choice), make([]int64, 1000)
		for i := range keys {
			keys[i] = int64(uint64(partitionDraws["skewed"](r, i, len(keys), 400)) * 0x9e3779b97f4a7c15)
		}
		var orders [3][]string
		for i := range orders {
			k := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int64, keys)
			table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "k", Type: k.Type()}}, nil), []*column.Column{k}, buffer.Rows{Count: int64(len(keys))})
			require.NoError(t, err)
			options := group.ByOptions{}
			if i == 2 {
				options.Order = group.FirstAppearance
			}
			made, err := group.By(table, group.Columns("k")...).Aggregate(ctx, []group.Aggregate{group.CountAll()}, options)
			require.NoError(t, err)
			record := columntest.Fetch(t, made)
			for row, key := range columntest.Texts(record.Column(0)) {
				orders[i] = append(orders[i], fmt.Sprint(key, " ", columntest.Texts(record.Column(1))[row]))
			}
			require.NoError(t, table.Release())
			r.Shuffle(len(keys), func(a, b int) { keys[a], keys[b] = keys[b], keys[a] })
		}
		require.Equal(t, orders[0], orders[1], "%+v", choice)
		require.NotEqual(t, orders[0], orders[2], "%+v: the groups have numbers", choice)
		require.ElementsMatch(t, orders[0], orders[2], "%+v", choice)
	}
}

// TestWaitsOfHashes requires as many waits of the host as for groups with numbers: for the bounds of the key, with which the
// estimate comes, and for the number of groups, with which the flag of crowded tables comes. Further calls know the bounds. The
// host waits for copies only.
func TestWaitsOfHashes(t *testing.T) {
	name, counted, err := callcount.Register(kerneltest.Open(t))
	require.NoError(t, err)
	mgr := devicetest.Manager(t, devicetest.Open(t, name), memory.Options{})
	record := hashRecord(rand.New(rand.NewPCG(97, 98)), partitionDraws["uniform"], 300, 100)
	defer record.Release()
	for _, choice := range []strategy.Group{{Find: strategy.Numbers, Add: strategy.Partitions, MeasuredRows: 1}, {Find: strategy.Hashes, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 7}} {
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		for _, waits := range []int{2, 1} {
			counted.Take()
			made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), []group.Aggregate{group.Sum(expr.Col("x"))})
			require.NoError(t, err)
			require.NoError(t, made.Release())
			require.Equal(t, waits, counted.Take().Count[callcount.Download], "%+v", choice)
		}
		require.NoError(t, table.Release())
	}
}

// TestHashesOfABudget gives each call a larger budget, from that of groups with numbers up to one that partitions
// by hashes fit. None fails, and the results are equal: without room for the partitions the groups have numbers.
func TestHashesOfABudget(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	record := hashRecord(rand.New(rand.NewPCG(89, 90)), partitionDraws["uniform"], 1000, 150)
	defer record.Release()
	run := func(budget uint64, choice strategy.Group) (lines []string, peak uint64) {
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: budget})
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), []group.Aggregate{group.Sum(expr.Col("x"))})
		require.NoError(t, err, "a budget of %d bytes", budget)
		peak = mgr.Stats().Peak
		answer := columntest.Fetch(t, made)
		sums := columntest.Texts(answer.Column(1))
		for row, key := range columntest.Texts(answer.Column(0)) {
			lines = append(lines, fmt.Sprint(key, " ", sums[row]))
		}
		require.NoError(t, table.Release())
		return lines, peak
	}
	// Small chunks take much memory for their states.
	choice := strategy.Group{Find: strategy.Hashes, PlaceBits: 6, ChunkRows: 40}
	numbers, least := run(0, strategy.Group{Find: strategy.Numbers})
	hashes, needed := run(0, choice)
	require.Greater(t, needed, least)
	require.NotEqual(t, numbers, hashes)
	seen := map[bool]bool{}
	for _, budget := range []uint64{least, needed - 512, needed + needed/4} {
		lines, _ := run(budget, choice)
		require.ElementsMatch(t, numbers, lines, "a budget of %d bytes", budget)
		seen[slices.Equal(lines, hashes)] = true
	}
	require.Len(t, seen, 2, "small budgets give numbers, large ones hashes")
}

// TestEveryAllocationOfHashesFails fails each allocation, of partitions, of those that are too small, and with an
// estimate of the groups.
func TestEveryAllocationOfHashesFails(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		for _, choice := range []strategy.Group{{Find: strategy.Hashes, Groups: 2, PlaceBits: 5}, {Find: strategy.Hashes, Groups: 2, PlaceBits: 1}, {Find: strategy.Hashes, MeasuredRows: 1, ChunkRows: 1}} {
			failEach(t, dev, func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
				key := group.Key{Expr: expr.Col("x").CastWrap(arrow.PrimitiveTypes.Int64).Mul(expr.Lit(int64(1) << 60)), Name: "key"}
				return group.By(table, key).Aggregate(strategy.WithGroup(ctx, choice), []group.Aggregate{group.Sum(expr.Col("y"))})
			})
		}
	})
}
