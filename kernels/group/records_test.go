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
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestRecords compares records of many groups with the host, bit for bit: keys of several
// distributions, of which some have frequent groups, and aggregates with records of one to eight
// words, and of two launches.
func TestRecords(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	r := rand.New(rand.NewPCG(27, 28))
	f64, i64 := expr.Col("f64"), expr.Col("i64")
	lists := append(partitionAggregates(), []group.Aggregate{group.First(f64), group.Last(i64), group.Sum(f64), group.Sum(i64).Where(f64.Gt(expr.Lit(0.0)))})
	keys := [][]string{{"k"}, {"wide"}, {"tiny", "k"}, {"f32"}} // the last one by numbers
	names := []string{"uniform", "equal", "sorted", "distinct", "skewed"}
	turn := property.Turn(t)
	for i, name := range names {
		n, groups := 7000, []int{300, 2000, 5000}[r.IntN(3)]
		record := partitionRecord(r, partitionDraws[name], n, groups)
		hosted, err := buffer.FromRecord(host, record)
		require.NoError(t, err)
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		record.Release()
		for j, list := range lists {
			if !ofTurn(mgr, i+j+turn, 3) {
				continue
			}
			key := keys[r.IntN(len(keys))]
			title := fmt.Sprintf("%s, %d groups, keys %v, list %d", name, groups, key, j)
			options := group.ByOptions{Order: group.ByKey}
			want, err := group.By(hosted, group.Columns(key...)...).Aggregate(t.Context(), list, options)
			require.NoError(t, err, title)
			got, err := group.By(table, group.Columns(key...)...).Aggregate(strategy.WithGroup(t.Context(), strategy.Group{Add: strategy.Records, MeasuredRows: 1}), list, options)
			require.NoError(t, err, title)
			requireEqual(t, columntest.Fetch(t, want), columntest.Fetch(t, got), title)
		}
		require.NoError(t, hosted.Release())
		require.NoError(t, table.Release())
	}
}
