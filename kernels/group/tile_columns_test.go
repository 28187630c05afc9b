package group_test

import (
	"maps"
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

// plainRecord has a key k and three columns of floats, all without nulls.
func plainRecord(r *rand.Rand, n, groups int, next func(*rand.Rand, int, int) float64) arrow.Record {
	fields := []arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}}
	for _, name := range []string{"x", "y", "z"} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
	}
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for row := range n {
		of := r.IntN(groups)
		b.Field(0).(*array.Int32Builder).Append(int32(3*of) - 7) // with places without rows
		for i := range 3 {
			b.Field(1 + i).(*array.Float64Builder).Append(next(r, row, of))
		}
	}
	return b.NewRecord()
}

// TestPlainColumns compares sums and extremes of floats without nulls with those of the host, bit for bit:
// with and without a count, with columns that several aggregates read, with slices, and with values outside
// of windows, which alone show that their group has rows.
func TestPlainColumns(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	x, y, z := expr.Col("x"), expr.Col("y"), expr.Col("z")
	lists := [][]group.Aggregate{
		{group.Sum(x)},
		{group.Max(x), group.Sum(y), group.Sum(x), group.Min(y), group.Max(z), group.Min(x)},
		{group.Mean(y), group.Sum(x), group.CountAll()},
		{group.Min(z), group.Max(y)},
	}
	choices := []strategy.Group{
		{Add: strategy.Tiles}, {Add: strategy.Tiles, Outside: 2}, {Add: strategy.Tiles, SlotBytes: 700}, {Add: strategy.Tiles, Without: strategy.DerivedMarks},
		{Add: strategy.Tiles, SlotBytes: 600, Outside: 2}, {Add: strategy.Tiles, Without: strategy.HighHalves}, {Add: strategy.Tiles, Without: strategy.Queues | strategy.DerivedMarks, SlotBytes: 700},
	}
	r, turn := rand.New(rand.NewPCG(81, 82)), property.Turn(t)
	for round, name := range slices.Sorted(maps.Keys(spreads)) {
		n := 1 + r.IntN(2500)
		if name == "rare" || !brief(mgr) && ofTurn(mgr, round+turn, 3) {
			n += 9000 // several tiles of a block
		}
		record := plainRecord(r, n, 1+r.IntN(12), spreads[name])
		for i, aggregates := range lists {
			if !ofTurn(mgr, i+round/3+turn, 2) {
				continue
			}
			choice := choices[(round+i)%len(choices)]
			var answers []arrow.Record
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), aggregates, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err)
				answers = append(answers, columntest.Fetch(t, made))
				require.NoError(t, table.Release())
			}
			for j, want := range answers[0].Columns() {
				require.Equal(t, exactTexts(want), exactTexts(answers[1].Column(j)), "%s, %d rows, list %d, %+v: %s", name, n, i, choice, answers[0].ColumnName(j))
			}
		}
		record.Release()
	}
}
