package group_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// drawnRecord has keys k of a distribution, of which only every second place has rows, and two columns of
// floats.
func drawnRecord(r *rand.Rand, draw func(r *rand.Rand, row, n, groups int) int, n, groups int, next func(*rand.Rand, int, int) float64) arrow.Record {
	fields := []arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for row := range n {
		of := draw(r, row, n, groups)
		b.Field(0).(*array.Int32Builder).Append(int32(2*of) - 5)
		for i := range 2 {
			b.Field(1 + i).(*array.Float64Builder).Append(next(r, row, of))
		}
	}
	return b.NewRecord()
}

// TestSlices compares sums and extremes of groups in several slices with those of the host, bit for bit: with
// queues of the rows of a slice and without, with and without words that mark the groups with rows, and with
// values outside of windows. A GPU empties queues before they are full.
func TestSlices(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	x, y := expr.Col("x"), expr.Col("y")
	lists := [][]group.Aggregate{{group.Sum(x)}, {group.Max(x)}, {group.Min(y), group.Sum(x)}, {group.Mean(x)}}
	choices := []strategy.Group{{}, {Outside: 1 << 16}, {Without: strategy.Queues}, {Without: strategy.DerivedMarks, Outside: 1 << 16}, {Without: strategy.Queues | strategy.DerivedMarks}}
	r := rand.New(rand.NewPCG(91, 92))
	for round, of := range []struct{ name, draw string }{
		{"unit", "skewed"}, {"rare", "equal"}, {"above", "skewed"}, {"special", "sorted"}, {"unit", "uniform"}, {"zeros", "distinct"},
	} {
		n, groups := 10_000+r.IntN(9000), 16+r.IntN(16)
		if !devicetest.Emulated(dev) {
			n = 1 << 20
			if round == 0 {
				n = 5 << 20 // some dozens of tiles of a block
			}
		} else if testing.Short() && round%2 == 1 {
			continue
		}
		next := spreads[of.name]
		if next == nil { // some values are above the window, of which the sample has none, but lose no bits of others
			next = func(r *rand.Rand, row, _ int) float64 {
				const samples = 2048
				isSampled := (row*samples+n-1)/n*n/samples == row
				if r.IntN(50) > 0 || isSampled {
					return 1 + r.Float64()
				}
				return math.Ldexp(1+r.Float64(), 6+r.IntN(4))
			}
		}
		record := drawnRecord(r, partitionDraws[of.draw], n, groups, next)
		hosted, err := buffer.FromRecord(host, record)
		require.NoError(t, err)
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		record.Release()
		for i, aggregates := range lists {
			choice := choices[(round/2+i)%len(choices)]
			choice.Add, choice.MeasuredRows, choice.SlotBytes = strategy.Tiles, 1, 12*(32+7+r.IntN(20))
			title := fmt.Sprintf("%s, %s, %d rows, %d groups, list %d, %+v", of.name, of.draw, n, groups, i, choice)
			var answers []arrow.Record
			for _, from := range []*buffer.Buffer{hosted, table} {
				made, err := group.By(from, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), aggregates, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err, title)
				answers = append(answers, columntest.Fetch(t, made))
			}
			require.Equal(t, answers[0].NumRows(), answers[1].NumRows(), title)
			for j, want := range answers[0].Columns() {
				require.Equal(t, exactTexts(want), exactTexts(answers[1].Column(j)), "%s: %s", title, answers[0].ColumnName(j))
			}
		}
		require.NoError(t, hosted.Release())
		require.NoError(t, table.Release())
	}
}

// TestSlicesOfTooManyGroups has more groups than MaxGroups, of which the frequent one is the last. Nothing is
// written behind the states of the others.
func TestSlicesOfTooManyGroups(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	const n, others, mostGroups = 8000, 3000, 20
	keys, x := make([]int32, n), make([]float64, n)
	for i := range keys {
		keys[i], x[i] = int32(min(i, others)), 1
	}
	table := floatTable(t, mgr, keys, x, x)
	for _, aggregate := range []group.Aggregate{group.Sum(expr.Col("x")), group.Max(expr.Col("x"))} {
		ctx := strategy.WithGroup(t.Context(), strategy.Group{Add: strategy.Tiles, SlotBytes: 12 * (32 + 7)})
		made, err := group.By(table, group.Columns("k")...).Aggregate(ctx, []group.Aggregate{aggregate}, group.ByOptions{MaxGroups: mostGroups})
		require.NoError(t, err)
		_, err = made.NumRows(t.Context())
		require.ErrorIs(t, err, buffer.ErrRows)
		require.NoError(t, made.Release())
	}
}
