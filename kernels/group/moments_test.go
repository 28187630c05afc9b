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

// momentDraws return 64 bits of which a column takes those of its type.
var momentDraws = map[string]func(r *rand.Rand, of int) uint64{
	"small": func(r *rand.Rand, _ int) uint64 { return r.Uint64N(16) },
	"any":   func(r *rand.Rand, _ int) uint64 { return r.Uint64() >> r.IntN(64) },
	"years": func(r *rand.Rand, of int) uint64 { return uint64(1990+of) + r.Uint64N(40) },
	"equal": func(_ *rand.Rand, of int) uint64 { return uint64(100 + of) },
	"extreme": func(r *rand.Rand, _ int) uint64 {
		return []uint64{1<<31 | 1<<15 | 1<<7, 1<<31 - 1, math.MaxUint64, 0}[r.IntN(4)]
	},
	// The largest magnitudes of which products fit 63 bits, and just not.
	"products": func(r *rand.Rand, _ int) uint64 { return math.MaxUint64 - 3037000498 + r.Uint64N(2) },
	"beyond":   func(r *rand.Rand, _ int) uint64 { return 3037000500 - r.Uint64N(2) },
	"cubes":    func(r *rand.Rand, _ int) uint64 { return math.MaxUint64 - 2097150 + r.Uint64N(3) },
	"fourths":  func(r *rand.Rand, _ int) uint64 { return math.MaxUint64 - 55107 + r.Uint64N(3) },
	"exact":    func(r *rand.Rand, _ int) uint64 { return 1<<53 - 1 + r.Uint64N(3) },
}

// momentRecord has a key k, integers and floats, of which some are null, and the condition b.
func momentRecord(r *rand.Rand, n, groups int, next func(*rand.Rand, int) uint64) arrow.Record {
	var fields []arrow.Field
	for _, of := range []arrow.DataType{
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean,
	} {
		fields = append(fields, arrow.Field{Name: of.Name(), Type: of, Nullable: true})
	}
	fields[0].Name = "k"
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for range n {
		of := r.IntN(groups)
		b.Field(0).(*array.Int32Builder).Append(int32(of))
		for i := 1; i < len(fields); i++ {
			x := next(r, of)
			if i != 2 && r.IntN(12) == 0 { // int32 has no nulls
				b.Field(i).AppendNull()
				continue
			}
			switch b := b.Field(i).(type) {
			case *array.Int8Builder:
				b.Append(int8(x))
			case *array.Int32Builder:
				b.Append(int32(x))
			case *array.Int64Builder:
				b.Append(int64(x))
			case *array.Uint16Builder:
				b.Append(uint16(x))
			case *array.Uint32Builder:
				b.Append(uint32(x))
			case *array.Uint64Builder:
				b.Append(x)
			case *array.Float32Builder:
				b.Append(float32(int64(x)))
			case *array.Float64Builder:
				b.Append(float64(int64(x)) / 3)
			case *array.BooleanBuilder:
				b.Append(r.IntN(3) > 0)
			}
		}
	}
	return b.NewRecord()
}

// momentAggregates are moments of some of the columns, and sums with the same accumulators.
func momentAggregates(begin, end int) (made []group.Aggregate) {
	condition := expr.Col("bool")
	names := []string{"int8", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64"}
	for i := begin; i < end; i++ {
		i, name := i%len(names), names[i%len(names)]
		x, y := expr.Col(name), expr.Col(names[(i*3+1)%len(names)])
		made = append(made, group.StdDev(x, 1), group.Skewness(x).Where(condition), group.KurtosisPop(x), group.Correlation(x, y), group.Covariance(x, y, 0).Where(condition), group.Sum(x))
	}
	return append(made, group.CountAll(), group.Correlation(expr.Col("int32"), expr.Col("int32").Add(expr.Col("int8"))))
}

// TestMomentsOfIntegers compares moments with those of the host, bit for bit, in each way to add up sums of
// integers and of products. The bounds of the values are known after the first way that asks for them.
func TestMomentsOfIntegers(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	r, turn := rand.New(rand.NewPCG(41, 42)), property.Turn(t)
	for i, name := range slices.Sorted(maps.Keys(momentDraws)) {
		n, groups := 1+r.IntN(500), 1+r.IntN(12)
		if name == "years" || !brief(mgr) && ofTurn(mgr, i+turn, 3) {
			n += 4096 // tiles of several rows
		}
		if name == "cubes" {
			groups = n // of one row, most of them
		}
		record := momentRecord(r, n, groups, momentDraws[name])
		defer record.Release()
		choices := []strategy.Group{{Add: strategy.Tiles}, {Add: strategy.Records, MeasuredRows: 1}, {Add: strategy.Tiles, SlotBytes: 1200}, {}}
		begin, end := 0, 8
		switch {
		case brief(mgr):
			begin, end = 3*i, 3*i+3
			choices = choices[:1+i%3]
		case devicetest.Emulated(dev):
			begin, end = 3*(i+turn), 3*(i+turn)+3
			first := (i + turn) % 4
			choices = []strategy.Group{choices[first], choices[(first+1)%4]}
		}
		requireMoments(t, host, mgr, record, name, momentAggregates(begin, end), choices...)
	}
	empty := momentRecord(r, 0, 1, momentDraws["any"])
	defer empty.Release()
	requireMoments(t, host, mgr, empty, "no rows", momentAggregates(0, 8), strategy.Group{Add: strategy.Tiles})
}

// requireMoments requires the results of the host from a device, with some choices, and from its
// partial results.
func requireMoments(t *testing.T, host, mgr *memory.Manager, record arrow.Record, name string, aggregates []group.Aggregate, choices ...strategy.Group) {
	t.Helper()
	options := group.ByOptions{Order: group.ByKey}
	aggregate := func(table *buffer.Buffer, choice strategy.Group) arrow.Record {
		made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), aggregates, options)
		require.NoError(t, err)
		return columntest.Fetch(t, made)
	}
	compare := func(want, got arrow.Record, way string) {
		for i, column := range want.Columns() {
			require.Equal(t, exactTexts(column), exactTexts(got.Column(i)), "%s, %d rows, %s: %s", name, record.NumRows(), way, want.ColumnName(i))
		}
	}
	onHost, err := buffer.FromRecord(host, record)
	require.NoError(t, err)
	want := aggregate(onHost, strategy.Group{})
	require.NoError(t, onHost.Release())
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	for _, choice := range choices {
		compare(want, aggregate(table, choice), fmt.Sprintf("%+v", choice))
	}
	if n := record.NumRows(); n > 0 && n < 2000 {
		parts := partials(t, mgr, table, []string{"k"}, aggregates, n/2, n)
		merged, err := group.Merge(t.Context(), table.Schema(), parts, aggregates, options)
		require.NoError(t, err)
		compare(want, columntest.Fetch(t, merged), "merged")
	}
	require.NoError(t, table.Release())
}

// TestMomentsOfFloats compares moments of floats that are hard to add up with those of the host, bit for bit.
func TestMomentsOfFloats(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	x, y, b := expr.Col("x"), expr.Col("y"), expr.Col("b")
	aggregates := []group.Aggregate{
		group.Variance(x, 0), group.StdDev(y, 1).Where(b), group.Skewness(x), group.Correlation(x, y), group.Covariance(expr.Col("j"), x, 1).Where(b),
		group.Skewness(y), group.Kurtosis(x), group.KurtosisPop(y).Where(b), group.Sum(x),
	}
	r, turn := rand.New(rand.NewPCG(43, 44)), property.Turn(t)
	for i, name := range slices.Sorted(maps.Keys(spreads)) {
		n, groups := 1+r.IntN(600), 1+r.IntN(12)
		if name == "cut" || !brief(mgr) && ofTurn(mgr, i+turn, 3) {
			n += 4096
		}
		record := tileRecord(r, n, groups, func(r *rand.Rand, row, of int) float64 {
			x := spreads[name](r, row, of)
			if name == "unit" || name == "rare" { // squares of which the floats underflow
				return math.Ldexp(x, -500-of*5)
			}
			if row%97 == 0 {
				return math.Copysign(0, -1)
			}
			return x
		})
		defer record.Release()
		choices := []strategy.Group{{Add: strategy.Tiles}, {Add: strategy.Tiles, SlotBytes: 36 * 21}, {}}
		switch {
		case brief(mgr):
			choices = choices[:2]
		case devicetest.Emulated(dev):
			choices = slices.Delete(choices, (i+turn)%3, (i+turn)%3+1)
		}
		requireMoments(t, host, mgr, record, name, aggregates, choices...)
	}
}
