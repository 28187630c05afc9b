package group_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestDecimalsInPartitions compares sums and means of decimals, with conditions, nulls and sums of more
// than 38 digits, with the host.
func TestDecimalsInPartitions(t *testing.T) {
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	r := rand.New(rand.NewPCG(61, 62))
	d, x, b := expr.Col("d"), expr.Col("x"), expr.Col("b")
	lists := [][]group.Aggregate{
		{group.Sum(d)},
		{group.Mean(d), group.CountAll(), group.Sum(expr.Col("i"))},
		{group.Sum(d).Where(x.Gt(expr.Lit(0.0))), group.Mean(d).Where(b), group.Sum(x)},
	}
	choices := []strategy.Group{{PlaceBits: 6}, {PlaceBits: 5, DigitBits: 1, MoveRows: 8}, {PlaceBits: 6, PartitionThreads: 1024, ChunkRows: 500}, {PlaceBits: 2, DigitBits: 1, ChunkRows: 90}}
	for i, groups := range []int{700, 3, 1500, 40} {
		record := tileRecord(r, 3000, groups, spreads["unit"])
		choice := choices[i]
		choice.Find, choice.Add, choice.MeasuredRows = strategy.Partitions, strategy.Partitions, 1
		for j, list := range lists {
			if brief(mgr) && (i+j)%3 != 0 {
				continue
			}
			var answers []*buffer.Buffer
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), list, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err)
				require.NoError(t, table.Release())
				answers = append(answers, made)
			}
			requireEqual(t, columntest.Fetch(t, answers[0]), columntest.Fetch(t, answers[1]), fmt.Sprintf("%d groups, list %d, %+v", groups, j, choice))
		}
		record.Release()
	}
}

// TestDecimalPartitionsAreUsed requires the order of the keys, which only partitions have.
func TestDecimalPartitionsAreUsed(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	record := tileRecord(rand.New(rand.NewPCG(63, 64)), 600, 300, spreads["unit"])
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	var orders [2][]string
	for i, order := range []group.Order{group.ByKey, group.Unspecified} {
		ctx := strategy.WithGroup(t.Context(), strategy.Group{Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1, PlaceBits: 4})
		made, err := group.By(table, group.Columns("k")...).Aggregate(ctx, []group.Aggregate{group.Sum(expr.Col("d"))}, group.ByOptions{Order: order})
		require.NoError(t, err)
		orders[i] = columntest.Texts(columntest.Fetch(t, made).Column(0))
	}
	require.Equal(t, orders[0], orders[1])
}
