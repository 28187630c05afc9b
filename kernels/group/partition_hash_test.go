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
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
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
	choices := []strategy.Group{{}, {PlaceBits: 4}, {PlaceBits: 3, TwoLevels: true, SmallTiles: true}, {PlaceBits: 7, ChunkRows: 200, Wide: true}}
	for i, key := range []string{"k", "j", "t", "k", "j"} {
		groups := []int{300, 1, 700, 40, 900}[i]
		record := scatteredRecord(r, 1500, groups)
		for j, list := range lists {
			choice := choices[(i+j)%len(choices)]
			choice.TextNumbers = true
			// Tables for a third of the groups are too small.
			choice.HashedGroups = []int{groups + 5, max(groups/3, 1)}[(i+j)%2]
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
	ctx := strategy.WithGroup(t.Context(), strategy.Group{HashedGroups: 110})
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

// TestEveryAllocationOfHashesFails fails each allocation, of partitions and of those that are too small.
func TestEveryAllocationOfHashesFails(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		for _, bits := range []int{5, 1} {
			failEach(t, dev, func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
				ctx = strategy.WithGroup(ctx, strategy.Group{HashedGroups: 2, PlaceBits: bits})
				key := group.Key{Expr: expr.Col("x").CastWrap(arrow.PrimitiveTypes.Int64).Mul(expr.Lit(int64(1) << 60)), Name: "key"}
				return group.By(table, key).Aggregate(ctx, []group.Aggregate{group.Sum(expr.Col("y"))})
			})
		}
	})
}
