package group_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
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

// spreads are distributions of floats that fit one window, that have values outside of it, and
// that need another method. place is the number of the row, and of is that of its group.
var spreads = map[string]func(r *rand.Rand, row, of int) float64{
	"unit":           func(r *rand.Rand, _, _ int) float64 { return r.Float64() - 0.25 },
	"whole":          func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(2000) - 1000) },
	"zeros":          func(*rand.Rand, int, int) float64 { return 0 },
	"cancelling":     func(r *rand.Rand, row, _ int) float64 { return float64(1-row/8%2*2) * 0.1 },
	"wide":           func(r *rand.Rand, _, _ int) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(70)) },
	"all":            func(r *rand.Rand, _, _ int) float64 { return math.Float64frombits(r.Uint64()) },
	"subnormal":      func(r *rand.Rand, _, _ int) float64 { return math.Float64frombits(r.Uint64N(1 << 54)) },
	"largest":        func(r *rand.Rand, _, _ int) float64 { return math.Ldexp(r.NormFloat64(), 1020) },
	"group by group": func(r *rand.Rand, _, of int) float64 { return math.Ldexp(r.NormFloat64(), of*9-40) },
	"rare": func(r *rand.Rand, row, _ int) float64 {
		x := r.NormFloat64()
		switch r.IntN(60) {
		case 0:
			return math.Ldexp(x, -r.IntN(60))
		case 1:
			return math.Ldexp(x, 20+r.IntN(12))
		case 2:
			return 0
		case 3:
			return math.Copysign(5e-324, x)
		}
		return x
	},
	"special": func(r *rand.Rand, _, of int) float64 {
		if of < 4 && r.IntN(100) == 0 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}[of]
		}
		return r.NormFloat64()
	},
	"cut": func(r *rand.Rand, row, of int) float64 { // large values cancel, so the cut bits of small ones are seen
		switch row % 16 {
		case 0:
			return math.Ldexp(r.NormFloat64(), of*3-70-r.IntN(15))
		case 1:
			return 0
		}
		pair := rand.New(rand.NewPCG(1, uint64(row/2)))
		return math.Ldexp(float64(1-row%2*2)*pair.Float64(), of*3-18)
	},
	"late": func(r *rand.Rand, row, _ int) float64 { // behind the sample's rows
		if row%2 == 1 {
			return math.Ldexp(r.NormFloat64(), -30)
		}
		return 0
	},
}

// tileRecord has groups of floats and of other types.
func tileRecord(r *rand.Rand, n, groups int, next func(*rand.Rand, int, int) float64) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "y", Type: arrow.PrimitiveTypes.Float32},
		{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "u", Type: arrow.PrimitiveTypes.Uint16}, {Name: "j", Type: arrow.PrimitiveTypes.Int32},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 38, Scale: 2}}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "v", Type: arrow.PrimitiveTypes.Uint64},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	of := 0
	for row := range n {
		if row%2 == 0 { // two rows of a group
			of = r.IntN(groups)
		}
		x := next(r, row, of)
		b.Field(0).(*array.Int32Builder).Append(int32(of) - 3)
		b.Field(1).(*array.Float64Builder).Append(x)
		b.Field(2).(*array.Float32Builder).Append(float32(x))
		b.Field(3).(*array.Int64Builder).Append(int64(r.Uint64()) >> r.IntN(64))
		if r.IntN(20) == 0 {
			b.Field(1).(*array.Float64Builder).SetNull(row)
			b.Field(3).(*array.Int64Builder).SetNull(row)
		}
		b.Field(4).(*array.Uint16Builder).Append(uint16(r.Uint32()))
		b.Field(5).(*array.Int32Builder).Append(int32(r.Uint32()))
		b.Field(6).(*array.Decimal128Builder).Append(decimal128.New(int64(r.Uint64())>>(4+r.IntN(60)), r.Uint64()))
		if r.IntN(9) == 0 {
			b.Field(7).AppendNull()
		} else {
			b.Field(7).(*array.BooleanBuilder).Append(r.IntN(2) == 0)
		}
		b.Field(8).(*array.Uint64Builder).Append(r.Uint64())
	}
	return b.NewRecord()
}

// TestTiles compares few groups, which tiles of rows are added to, with those of the host, bit
// for bit: values inside and outside of windows, with room for many and for two of these.
func TestTiles(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	x, b := expr.Col("x"), expr.Col("b")
	aggregates := []group.Aggregate{
		group.Sum(x), group.Mean(x), group.Sum(expr.Col("y")).Where(b), group.CountAll(), group.Count(expr.Col("i")), group.Mean(expr.Col("i")), group.Sum(expr.Col("j")),
		group.Sum(expr.Col("u")), group.Min(x), group.Max(expr.Col("y")), group.Min(expr.Col("i")), group.Max(expr.Col("u")), group.Sum(expr.Col("d")).Where(b), group.First(x),
		group.Last(x).Where(b), group.Any(b), group.Mean(expr.Col("v")), group.Min(expr.Col("v")), group.Covariance(x, expr.Col("j"), 1), group.Variance(expr.Col("y"), 0),
	}
	r := rand.New(rand.NewPCG(5, 6))
	for round, name := range slices.Sorted(maps.Keys(spreads)) {
		next := spreads[name]
		n, groups := 1+r.IntN(3000), 1+r.IntN(12)
		if !brief(mgr) || name == "rare" || name == "cut" {
			n += 9000 // several tiles of a block
		}
		record := tileRecord(r, n, groups, next)
		defer record.Release()
		for i, choices := range []strategy.Group{{Add: strategy.Tiles}, {Add: strategy.Tiles, Outside: 2}, {Add: strategy.Tiles, SlotBytes: 440}, {Add: strategy.Records, MeasuredRows: 1}} {
			if brief(mgr) && name != "rare" && name != "special" && i != round%2 {
				continue // TestRecords and TestEachWayOnce have the last two
			}
			key := group.Columns("k")[0]
			if choices.Outside > 0 {
				key = group.Key{Expr: expr.Lit(int8(1)), Name: "k"} // one group, of a dense key
			}
			var answers []arrow.Record
			for _, m := range []*memory.Manager{host, mgr} {
				table, err := buffer.FromRecord(m, record)
				require.NoError(t, err)
				made, err := group.By(table, key).Aggregate(strategy.WithGroup(t.Context(), choices), aggregates, group.ByOptions{Order: group.ByKey})
				require.NoError(t, err)
				answers = append(answers, columntest.Fetch(t, made))
				require.NoError(t, table.Release())
			}
			for i, want := range answers[0].Columns() {
				require.Equal(t, exactTexts(want), exactTexts(answers[1].Column(i)), "%s, %d rows, room for %d: %s", name, n, choices.Outside, answers[0].ColumnName(i))
			}
		}
	}
}

// exactTexts returns texts of the bits of floats, and of other values. All NaN are one value.
func exactTexts(a arrow.Array) []string {
	floats, ok := a.(*array.Float64)
	if !ok {
		return columntest.Texts(a)
	}
	texts := columntest.Texts(a)
	for i, x := range floats.Float64Values() {
		if floats.IsValid(i) && x == x {
			texts[i] = fmt.Sprintf("%x", x)
		}
	}
	return texts
}
