package group_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestDividedAggregates compares aggregations in chunks of rows and in parts of the groups with the
// model: all aggregates, and keys of each type.
func TestDividedAggregates(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		for i, keys := range keyTypes {
			if brief(mgr) && i%8 != 1 {
				continue
			}
			t.Run(fmt.Sprint(keys), func(t *testing.T) {
				g := arraytest.NewGenerator(uint64(200 + i))
				g.Nulls = arraytest.SomeNull
				d := draw(t, mgr, g, keys, valueTypes[(i+3)%len(valueTypes)], 5, 90)
				d.choice = strategy.Group{DividedRows: 37, DividedBits: i % 3}
				query := group.By(d.table, group.Columns(d.names()...)...).Where(expr.Col("w"))
				d.check(t, query, group.ByOptions{Order: group.FirstAppearance}, func(row int) bool { return d.where.IsValid(row) && d.where.Value(row) })
			})
		}
	})
}

// budgeted returns a result computed within a budget for all but the table, the memory above the
// table at the peak, and the error.
func budgeted(t *testing.T, ctx context.Context, dev *device.Device, record arrow.Record, budget uint64, run func(context.Context, *buffer.Buffer) (*buffer.Buffer, error)) (arrow.Record, uint64, error) {
	t.Helper()
	mgr := devicetest.Manager(t, dev, memory.Options{})
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	held := mgr.Stats().InUse
	mgr.SetBudget(held + budget)
	mgr.ResetPeak()
	made, err := run(ctx, table)
	peak := mgr.Stats().Peak
	require.LessOrEqual(t, peak, held+budget)
	var fetched arrow.Record
	if err == nil {
		mgr.SetBudget(1 << 40)
		fetched = columntest.Fetch(t, made)
	}
	require.NoError(t, table.Release())
	return fetched, peak - held, err
}

// TestBudgets aggregates within smaller and smaller budgets. Results are those of a large budget until
// the error names the memory that is missing.
func TestBudgets(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		r := rand.New(rand.NewPCG(51, 52))
		n := 2000
		if devicetest.Emulated(dev) {
			n = 1500
		}
		x, i := expr.Col("x"), expr.Col("i")
		for _, test := range []struct {
			name       string
			groups     int
			order      group.Order
			aggregates []group.Aggregate
		}{
			{"few groups", 7, group.FirstAppearance, []group.Aggregate{group.Sum(x), group.Mean(i), group.Max(expr.Col("d")), group.ArgMin(i)}},
			{"many groups", n, group.ByKey, []group.Aggregate{group.Sum(x), group.Variance(x, 1)}},
			{"values of many groups", n / 4, group.FirstAppearance, []group.Aggregate{group.Median(x), group.First(i)}},
		} {
			if testing.Short() && devicetest.Emulated(dev) && test.groups > 7 {
				continue // it takes long
			}
			t.Run(test.name, func(t *testing.T) {
				record := tileRecord(r, n, test.groups, spreads["wide"])
				defer record.Release()
				run := func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
					return group.By(table, group.Columns("k")...).Aggregate(ctx, test.aggregates, group.ByOptions{Order: test.order})
				}
				want, peak, err := budgeted(t, t.Context(), dev, record, 1<<40, run)
				require.NoError(t, err)
				passed, refused := 0, 0
				for budget := peak - 1; refused == 0 && budget > 0; budget /= 2 {
					got, _, err := budgeted(t, t.Context(), dev, record, budget, run)
					if err != nil {
						var needed *group.MemoryError
						require.ErrorAs(t, err, &needed)
						require.ErrorIs(t, err, memory.ErrBudget)
						require.Greater(t, needed.Needed, needed.Budget)
						refused++
						continue
					}
					passed++
					requireEqual(t, want, got, fmt.Sprint("budget ", budget))
				}
				// The memory of the result and of its sort may be the largest, which no division makes smaller.
				if test.order == group.FirstAppearance && test.groups == 7 && (dev.Kind() == device.Host || devicetest.Emulated(dev)) {
					require.Positive(t, passed)
				}
				require.Positive(t, refused, "a budget of nothing is too small")
			})
		}
	})
}

// TestSkewUnderBudget has a key with most rows, which no division by keys makes smaller.
func TestSkewUnderBudget(t *testing.T) {
	dev := devicetest.Open(t, "host")
	const n = 20_000
	r := rand.New(rand.NewPCG(53, 54))
	record := tileRecord(r, n, 2, spreads["unit"])
	defer record.Release()
	run := func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
		return group.By(table, group.Columns("b")...).Aggregate(ctx, []group.Aggregate{group.Sum(expr.Col("x")), group.CountAll()}, group.ByOptions{Order: group.ByKey})
	}
	want, peak, err := budgeted(t, t.Context(), dev, record, 1<<40, run)
	require.NoError(t, err)
	got, smaller, err := budgeted(t, t.Context(), dev, record, peak/8, run)
	require.NoError(t, err)
	require.LessOrEqual(t, smaller, peak/8)
	requireEqual(t, want, got, "an eighth of the memory")
}

// TestMaxGroupsDivided has more groups than MaxGroups, and as many.
func TestMaxGroupsDivided(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	table := floatTable(t, mgr, []int32{5, 1, 5, 2}, []float64{1, 2, 3, 4}, []float64{1, 2, 3, 4})
	ctx := strategy.WithGroup(t.Context(), strategy.Group{DividedRows: 2, DividedBits: 2})
	query, sums := group.By(table, group.Columns("k")...), []group.Aggregate{group.Sum(expr.Col("x"))}
	_, err := query.Aggregate(ctx, sums, group.ByOptions{MaxGroups: 2})
	require.ErrorIs(t, err, buffer.ErrRows)
	made, err := query.Aggregate(ctx, sums, group.ByOptions{MaxGroups: 3, Order: group.FirstAppearance})
	require.NoError(t, err)
	record := columntest.Fetch(t, made)
	require.Equal(t, []string{"5", "1", "2"}, columntest.Texts(record.Column(0)))
	require.Equal(t, []string{"4", "2", "4"}, resultTexts(t, record.Column(1)))
	require.EqualValues(t, 2, record.NumCols())
}

// TestCancelledDivision stops before a chunk.
func TestCancelledDivision(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	table := floatTable(t, mgr, []int32{5, 1}, []float64{1, 2}, []float64{1, 2})
	ctx, cancel := context.WithCancel(strategy.WithGroup(t.Context(), strategy.Group{DividedRows: 1}))
	cancel()
	_, err := group.By(table, group.Columns("k")...).Aggregate(ctx, []group.Aggregate{group.Sum(expr.Col("x"))})
	require.ErrorIs(t, err, context.Canceled)
}
