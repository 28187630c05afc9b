package group_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestOneGroup compares the aggregates of all rows, which are added without their groups, with those of
// rows that have one value in a column of keys.
func TestOneGroup(t *testing.T) {
	var aggregates []group.Aggregate
	add := func(a group.Aggregate, name string) {
		aggregates = append(aggregates, a.As(name), a.Where(expr.Col("wide").Gt(expr.Lit(int64(-1<<35+10)))).As("some "+name))
	}
	for _, name := range []string{"f64", "f32", "i64", "u64", "i16", "tiny", "wide"} {
		x := expr.Col(name)
		for i, a := range []group.Aggregate{
			group.Count(x), group.Sum(x), group.Min(x), group.Max(x), group.Mean(x), group.Variance(x, 1), group.First(x), group.Skewness(x),
			group.Correlation(x, expr.Col("i64")),
		} {
			add(a, fmt.Sprint(name, i))
		}
	}
	add(group.CountAll(), "rows")
	add(group.Product(expr.Col("i16")), "product")
	add(group.BitOr(expr.Col("i16")), "bit or")
	add(group.BitXor(expr.Col("i16")), "bit xor")
	add(group.Max(expr.Col("day")), "day")
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		for _, n := range []int{1, 2, 63, 64, 65, 511, 512, 513, 1300} {
			record := partitionRecord(rand.New(rand.NewPCG(uint64(n), 7)), func(*rand.Rand, int, int, int) int { return 0 }, n, 3)
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			var answers [2]*buffer.Buffer
			for i, key := range []expr.Expr{expr.Col("k"), expr.LitOf(record.Schema().Field(0).Type, int32(-1))} {
				answers[i], err = group.By(table, group.Key{Expr: key, Name: "k"}).Aggregate(t.Context(), aggregates)
				require.NoError(t, err)
			}
			requireEqual(t, columntest.Fetch(t, answers[0]), columntest.Fetch(t, answers[1]), fmt.Sprint(n, " rows"))
			require.NoError(t, table.Release())
			record.Release()
		}
	})
}
