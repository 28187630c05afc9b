package group_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestBoundsOfAggregates compares upper bounds with the memory that group-bys use: keys and aggregates
// of several types, with conditions, in each order, found in each way, and the same as Transform and Pivot.
func TestBoundsOfAggregates(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := rand.New(rand.NewPCG(31, 32))
		x, i := expr.Col("x"), expr.Col("i")
		lists := [][]group.Aggregate{
			{group.Sum(x)},
			{group.CountAll(), group.Mean(x), group.Max(i), group.Min(expr.Col("y"))},
			{group.First(i), group.Last(x), group.ArgMin(i), group.Variance(x, 1)},
			{group.Sum(expr.Col("d")), group.Sum(i.Add(expr.Lit(int64(2)))).Where(expr.Col("b"))},
			{group.Min(expr.Col("d")), group.Any(expr.Col("b"))},
		}
		keys := [][]group.Key{
			group.Columns("k"), group.Columns("x"), group.Columns("k", "b"), group.Columns("d"),
			{{Expr: i.BitAnd(expr.Lit(int64(7))), Name: "low"}, {Column: "y"}},
		}
		names := []string{"unit", "wide", "rare"}
		for _, n := range []int{0, 1, 700, 5000} {
			if brief(mgr) && n > 700 {
				continue
			}
			record := tileRecord(r, n, 1+n/3, spreads[names[r.IntN(len(names))]])
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			record.Release()
			for j, list := range lists {
				for k, key := range keys {
					if brief(mgr) && (j+k)%3 != 0 {
						continue
					}
					q := group.By(table, key...)
					if r.IntN(3) == 0 {
						q = q.Where(x.Gt(expr.Lit(0.0)))
					}
					choice := []strategy.Group{{}, {Find: strategy.Partitions, Add: strategy.Partitions, MeasuredRows: 1}, {Add: strategy.Records, MeasuredRows: 1}, {Add: strategy.Tiles}, {Find: strategy.Hashes}}[r.IntN(5)]
					ctx := strategy.WithGroup(t.Context(), choice)
					by := group.ByOptions{Order: group.Order(r.IntN(3)), Nulls: group.Nulls(r.IntN(2))}
					way := r.IntN(3)
					title := fmt.Sprintf("%d rows, aggregates %d, keys %d, %+v, %+v, way %d", n, j, k, choice, by, way)
					// Few rows take scratch memory that does not grow with them, and tables of places.
					slack := uint64(16 << 20)
					if choice.Find != "" || choice.Add == strategy.Records {
						slack = 512 << 20
					}
					columntest.CheckBound(t, mgr, title, slack, func(o kernels.Options) (*buffer.Buffer, error) {
						by.Options = o
						switch way {
						case 0:
							return q.Transform(ctx, list, by)
						case 1:
							return q.Pivot(ctx, i.BitAnd(expr.Lit(int64(3))), []any{int64(0), int64(1), nil}, list[0], by)
						}
						return q.Aggregate(ctx, list, by)
					})
				}
			}
			require.NoError(t, table.Release())
		}
	})
}

// TestBoundsOfHashes has the most places for the rows: distinct keys, and few of them.
func TestBoundsOfHashes(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	r := rand.New(rand.NewPCG(35, 36))
	ctx := strategy.WithGroup(t.Context(), strategy.Group{Find: strategy.Hashes})
	for _, n := range []int{1, 2, 3, 9, 700} {
		record := hashRecord(r, partitionDraws["distinct"], n, n)
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		record.Release()
		for _, order := range []group.Order{group.Unspecified, group.ByKey} {
			columntest.CheckBound(t, mgr, fmt.Sprintf("%d rows, order %d", n, order), 64<<20, func(o kernels.Options) (*buffer.Buffer, error) {
				list := []group.Aggregate{group.Sum(expr.Col("x")), group.CountAll()}
				return group.By(table, group.Columns("k")...).Aggregate(ctx, list, group.ByOptions{Options: o, Order: order})
			})
		}
		require.NoError(t, table.Release())
	}
}

// TestNoBound has aggregates with memory that only the data decides.
func TestNoBound(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	table := floatTable(t, mgr, []int32{5, 1, 5}, []float64{1, 2, 3}, []float64{1, 2, 3})
	for _, a := range []group.Aggregate{group.Median(expr.Col("x")), group.Collect(expr.Col("x"))} {
		_, err := kernels.EstimateOf(func(o kernels.Options) (*buffer.Buffer, error) {
			return group.By(table, group.Columns("k")...).Aggregate(t.Context(), []group.Aggregate{a}, group.ByOptions{Options: o})
		})
		require.ErrorIs(t, err, device.ErrNotSupported)
	}
	_, err := kernels.EstimateOf(func(o kernels.Options) (*buffer.Buffer, error) {
		return group.By(table, group.Columns("k")...).Partial(t.Context(), []group.Aggregate{group.Sum(expr.Col("x"))}, group.ByOptions{Options: o})
	})
	require.ErrorIs(t, err, device.ErrNotSupported)
}
