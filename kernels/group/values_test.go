package group_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// valueRecord has the keys k, small and s, and columns of numbers, which have nulls if nullable is set.
// Products of the decimals overflow 38 digits in some rows, and their sums do.
func valueRecord(r *rand.Rand, n int, nullable bool) arrow.Record {
	short, long := &arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 3}
	fields := []arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "small", Type: arrow.PrimitiveTypes.Uint8}, {Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "short", Type: short}, {Name: "long", Type: long}, {Name: "i8", Type: arrow.PrimitiveTypes.Int8}, {Name: "i64", Type: arrow.PrimitiveTypes.Int64},
		{Name: "u16", Type: arrow.PrimitiveTypes.Uint16}, {Name: "u64", Type: arrow.PrimitiveTypes.Uint64}, {Name: "f32", Type: arrow.PrimitiveTypes.Float32},
		{Name: "f64", Type: arrow.PrimitiveTypes.Float64}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean},
	}
	for i := range fields {
		fields[i].Nullable = nullable && i != 0
	}
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer builder.Release()
	for range n {
		for i, f := range fields {
			if f.Nullable && r.IntN(10) == 0 {
				builder.Field(i).AppendNull()
				continue
			}
			x := r.Uint64() >> r.IntN(64)
			switch b := builder.Field(i).(type) {
			case *array.Int32Builder:
				b.Append(int32(r.IntN(7)) - 2)
			case *array.Uint8Builder:
				b.Append(uint8(r.IntN(3)))
			case *array.StringBuilder:
				b.Append([]string{"A", "N", "R"}[r.IntN(3)])
			case *array.Int8Builder:
				b.Append(int8(x))
			case *array.Int64Builder:
				b.Append(int64(x))
			case *array.Uint16Builder:
				b.Append(uint16(x))
			case *array.Uint64Builder:
				b.Append(x)
			case *array.Float32Builder:
				b.Append([]float32{float32(int64(x)), float32(math.NaN()), 0, float32(math.Inf(-1)), -1.5}[min(r.IntN(30), 4)])
			case *array.Float64Builder:
				b.Append([]float64{math.NaN(), math.Copysign(0, -1), math.Float64frombits(x), float64(int64(x)) / 7}[min(r.IntN(20), 3)])
			case *array.BooleanBuilder:
				b.Append(r.IntN(2) == 0)
			case *array.Decimal128Builder:
				if f.Name == "short" {
					b.Append(decimal128.FromI64(int64(x) >> 15))
				} else {
					b.Append(decimal128.New(int64(r.Uint64())>>(2+r.IntN(61)), x))
				}
			}
		}
	}
	return builder.NewRecord()
}

// drawnValues draws expressions and aggregates of the columns of valueRecord.
type drawnValues struct{ *rand.Rand }

func (d drawnValues) of(list ...expr.Expr) expr.Expr { return list[d.IntN(len(list))] }

func (d drawnValues) condition() expr.Expr {
	b, i := expr.Col("b"), expr.Col("i64")
	return d.of(b, b.Not(), i.Gt(expr.Lit(5)), expr.Col("short").Lt(expr.Col("long")), i.IsNull().Or(b), expr.Col("f64").Le(expr.Lit(0.5)))
}

func (d drawnValues) decimal(depth int) expr.Expr {
	if depth == 0 {
		return d.of(expr.Col("short"), expr.Col("long"), expr.Lit(1).Sub(expr.Col("short")), expr.Col("short"))
	}
	x, y := d.decimal(depth-1), d.decimal(depth-1)
	return d.of(x.Mul(y), x.Add(y), x.Sub(y), x.Neg(), x.Abs(), expr.If(d.condition(), x, y), x.Mul(expr.Col("i8")), expr.Coalesce(x, y))
}

func (d drawnValues) integer(depth int) expr.Expr {
	if depth == 0 {
		return d.of(expr.Col("i8"), expr.Col("i64"), expr.Col("u16"), expr.Col("u64"))
	}
	x, y := d.integer(depth-1), d.integer(depth-1)
	return d.of(x.Mul(y), x.Add(expr.Lit(3)), x.Div(y), x.Neg(), expr.If(d.condition(), x, y), x.BitXor(y), expr.Hash(x, y))
}

func (d drawnValues) float() expr.Expr {
	x, y := expr.Col("f32"), expr.Col("f64")
	return d.of(x.Mul(y), x.Neg(), y.Abs(), x.Add(expr.Lit(0.25)), expr.If(d.condition(), y, x), y.Sub(expr.Col("i64")))
}

// aggregates returns some aggregates, of which more than half have a condition or share expressions.
func (d drawnValues) aggregates() (list []group.Aggregate) {
	x, i := d.decimal(1+d.IntN(2)), d.integer(1+d.IntN(2))
	all := []group.Aggregate{
		group.Sum(x), group.Mean(x), group.Sum(x.Mul(expr.Col("short"))), group.Count(x), group.CountNull(i), group.Sum(i), group.Mean(i),
		group.Min(d.integer(1)), group.Max(d.integer(1)), group.Min(d.float()), group.Max(d.float()), group.Sum(expr.Col("long")), group.Sum(expr.Col("u16")),
		group.CountAll(), group.Any(d.condition()), group.All(d.condition()), group.Sum(d.condition()), group.Mean(d.float()), group.Min(expr.Col("i8")), group.Max(x), group.First(i),
	}
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, a := range all[:3+d.IntN(7)] {
		if d.IntN(3) == 0 {
			a = a.Where(d.condition())
		}
		list = append(list, a.As(fmt.Sprint(len(list))))
	}
	return list
}

// aggregateValues aggregates a part of a record on a device.
func aggregateValues(t *testing.T, mgr *memory.Manager, record arrow.Record, choice strategy.Group, aggregate func(*testing.T, *buffer.Buffer, strategy.Group) *buffer.Buffer) arrow.Record {
	t.Helper()
	whole, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	part, err := whole.Slice(slicedRows, record.NumRows()-slicedRows)
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	defer func() { require.NoError(t, part.Release()) }()
	return columntest.Fetch(t, aggregate(t, part, choice))
}

// slicedRows is the number of rows before those that tests aggregate: bitmaps then begin within a byte.
const slicedRows = 11

// TestValuesOfExpressions compares aggregates of random expressions with those of the host, bit for bit:
// computed by the kernel that adds them up, with slots for all groups and with slices, and of columns.
func TestValuesOfExpressions(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	d := drawnValues{property.Random(t)}
	keys := [][]group.Key{
		group.Columns("k"), group.Columns("small", "k"), group.Columns("s"), group.Columns("s", "small"),
		{{Expr: expr.Lit(1), Name: "one"}}, {{Expr: expr.Col("k").Add(expr.Lit(1)), Name: "sum"}},
	}
	rounds, sizes := 60, []int{1500, 0, 700, 5000, 1}
	if brief(mgr) {
		rounds, sizes = 8, []int{600, 0, 300}
	}
	for round := range rounds {
		record := valueRecord(d.Rand, slicedRows+sizes[round%len(sizes)], round%2 == 0)
		aggregates, by := d.aggregates(), keys[d.IntN(len(keys))]
		where := d.of(expr.Col("i64").Lt(expr.Lit(1<<40)), expr.Col("k").Ne(expr.Lit(0)))
		options := group.ByOptions{Order: group.ByKey}
		if round%5 == 4 {
			options.Nulls = group.DropNulls
		}
		aggregate := func(t *testing.T, table *buffer.Buffer, choice strategy.Group) *buffer.Buffer {
			q := group.By(table, by...)
			if round%3 == 0 {
				q = q.Where(where)
			}
			made, err := q.Aggregate(strategy.WithGroup(t.Context(), choice), aggregates, options)
			require.NoError(t, err, "%v", aggregates)
			return made
		}
		want := aggregateValues(t, host, record, strategy.Group{}, aggregate)
		for _, choice := range []strategy.Group{
			{Tiles: true, Places: round%4 > 0, TextNumbers: round%4 > 1, Masks: round%6 == 0},
			{Tiles: true, Places: true, SlotBytes: 1500},
			{Tiles: true, Places: true, Computed: true},
		} {
			got := aggregateValues(t, mgr, record, choice, aggregate)
			require.Equal(t, want.NumRows(), got.NumRows(), "round %d, %+v", round, choice)
			for i, column := range want.Columns() {
				require.Equal(t, exactTexts(column), exactTexts(got.Column(i)), "round %d, %+v, column %d of %v", round, choice, i, aggregates)
			}
		}
		record.Release()
	}
}
