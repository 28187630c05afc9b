package group_test

import (
	"fmt"
	"maps"
	"math"
	"math/big"
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
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// valueRecord has the keys k, small and s, and columns of numbers, which have nulls if nullable is set.
// Products of the decimals overflow 38 digits in some rows, and their sums do.
func valueRecord(t *testing.T, r *rand.Rand, n int, nullable bool) arrow.Record {
	short, long := &arrow.Decimal128Type{Precision: 15, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 3}
	fields := []arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "small", Type: arrow.PrimitiveTypes.Uint8}, {Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "short", Type: short}, {Name: "long", Type: long}, {Name: "i8", Type: arrow.PrimitiveTypes.Int8}, {Name: "i64", Type: arrow.PrimitiveTypes.Int64},
		{Name: "u16", Type: arrow.PrimitiveTypes.Uint16}, {Name: "u64", Type: arrow.PrimitiveTypes.Uint64}, {Name: "f32", Type: arrow.PrimitiveTypes.Float32},
		{Name: "f64", Type: arrow.PrimitiveTypes.Float64}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "coded", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
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
			case *array.BinaryDictionaryBuilder:
				require.NoError(t, b.AppendString([]string{"A", "B", "longer"}[r.IntN(3)]))
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
	return d.of(b, b.Not(), i.Gt(expr.Lit(5)), expr.Col("short").Lt(expr.Col("long")), i.IsNull().Or(b), expr.Col("f64").Le(expr.Lit(0.5)), expr.Col("coded").Eq(expr.Lit("B")))
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
	short := expr.Col("u16").Cast(arrow.PrimitiveTypes.Float64).Mul(expr.Lit(-0.37)) // fits a window
	wide := expr.Col("i64").Cast(arrow.PrimitiveTypes.Float64).Mul(expr.Lit(0.1))    // fits none, and is never NaN
	return d.of(short, short.Mul(expr.Lit(1e9)), wide, wide.Mul(short), wide.Add(expr.Lit(1e12)), x.Mul(y), x.Neg(), y.Abs(), x.Add(expr.Lit(0.25)), expr.If(d.condition(), y, x), y.Sub(expr.Col("i64")))
}

// aggregates returns some aggregates, of which a third have a condition, and many share expressions. Four rounds have
// each function.
func (d drawnValues) aggregates(round int) (list []group.Aggregate) {
	x, i := d.decimal(1+d.IntN(2)), d.integer(1+d.IntN(2))
	all := []group.Aggregate{
		group.Sum(x), group.Sum(x.Mul(expr.Col("short"))), group.Max(d.float()), group.Mean(i), group.Sum(d.float()), group.CountAll(),
		group.Mean(x), group.Min(d.integer(1)), group.Count(x), group.Mean(d.float()), group.Any(d.condition()), group.Sum(expr.Col("u16")),
		group.Sum(i), group.Max(d.integer(1)), group.Min(d.float()), group.CountNull(i), group.Sum(expr.Col("long")), group.All(d.condition()),
		group.Sum(d.condition()), group.Max(x), group.Sum(expr.Col("f64")), group.Count(expr.Col("s")), group.Min(expr.Col("i8")), group.First(i),
	}
	for i := range 6 + d.IntN(3) {
		a := all[(6*round+i)%len(all)]
		if d.IntN(3) == 0 {
			a = a.Where(d.condition())
		}
		list = append(list, a.As(fmt.Sprint(i)))
	}
	return list
}

// aggregateValues aggregates a part of a record on a device. If counted is set, only the device knows the
// number of the rows.
func aggregateValues(t *testing.T, mgr *memory.Manager, record arrow.Record, counted bool, choice strategy.Group, aggregate func(*testing.T, *buffer.Buffer, strategy.Group) *buffer.Buffer) arrow.Record {
	t.Helper()
	whole, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	part, err := whole.Slice(slicedRows, record.NumRows()-slicedRows)
	require.NoError(t, err)
	require.NoError(t, whole.Release())
	if counted {
		some, err := selection.Filter(t.Context(), part, expr.Col("k").Gt(expr.Lit(-2)))
		require.NoError(t, err)
		require.NoError(t, part.Release())
		part = some
	}
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
		record := valueRecord(t, d.Rand, slicedRows+sizes[round%len(sizes)], round%2 == 0)
		aggregates, by, counted := d.aggregates(round), keys[round%len(keys)], d.IntN(4) == 0
		where := d.of(expr.Col("i64").Lt(expr.Lit(int64(1<<40))), expr.Col("k").Ne(expr.Lit(0)))
		options := group.ByOptions{Order: group.ByKey}
		if round%4 == 2 { // the keys have nulls
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
		want := aggregateValues(t, host, record, counted, strategy.Group{}, aggregate)
		for _, choice := range []strategy.Group{
			{Add: strategy.Tiles, MeasuredRows: min(round%4, 1), TextRows: round % 4 / 2, MaskedRows: []int{1, 0, 0, 0, 0, 0}[round%6]},
			{Add: strategy.Tiles, MeasuredRows: 1, SlotBytes: 1500, Outside: 1 + round%3},
			{Add: strategy.Tiles, Without: strategy.FusedExpressions, MeasuredRows: 1},
		} {
			got := aggregateValues(t, mgr, record, counted, choice, aggregate)
			require.Equal(t, want.NumRows(), got.NumRows(), "round %d, %+v", round, choice)
			for i, column := range want.Columns() {
				require.Equal(t, exactTexts(column), exactTexts(got.Column(i)), "round %d, %+v, column %d of %v", round, choice, i, aggregates)
			}
		}
		record.Release()
	}
}

// TestPartsOfExpressions merges partial results of expressions.
func TestPartsOfExpressions(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	d := drawnValues{property.Random(t)}
	record := valueRecord(t, d.Rand, slicedRows+300, true)
	defer record.Release()
	short := expr.Col("short")
	list := []group.Aggregate{
		group.Sum(short.Mul(short)), group.Mean(short.Add(expr.Col("long"))), group.Max(expr.Col("i64").Neg()), group.Sum(expr.Col("f64").Abs()), group.Count(short.Mul(expr.Col("long"))),
	}
	aggregate := func(t *testing.T, table *buffer.Buffer, choice strategy.Group) *buffer.Buffer {
		var parts []*buffer.Buffer
		ctx := strategy.WithGroup(t.Context(), choice)
		for _, of := range [][2]int64{{0, 100}, {100, 200}} {
			some, err := table.Slice(of[0], of[1])
			require.NoError(t, err)
			part, err := group.By(some, group.Columns("k")...).Partial(ctx, list)
			require.NoError(t, err)
			require.NoError(t, some.Release())
			parts = append(parts, part)
		}
		made, err := group.Merge(ctx, table.Schema(), parts, list, group.ByOptions{Order: group.ByKey})
		require.NoError(t, err)
		for _, part := range parts {
			require.NoError(t, part.Release())
		}
		return made
	}
	want := aggregateValues(t, host, record, false, strategy.Group{}, aggregate)
	requireEqual(t, want, aggregateValues(t, mgr, record, false, strategy.Group{Add: strategy.Tiles}, aggregate), "partial results")
}

// TestSumsOfLongProducts compares sums of products that have up to 38 digits or too many, with big integers.
func TestSumsOfLongProducts(t *testing.T) {
	r := property.Random(t)
	of := &arrow.Decimal128Type{Precision: 38, Scale: 0}
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: of}, {Name: "y", Type: of}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	digits := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	most := digits(38)
	var sums [6]*big.Int
	edges := []decimal128.Num{decimal128.FromI64(math.MinInt64), decimal128.FromI64(math.MaxInt64), decimal128.New(0, 1<<63), decimal128.New(-1, 1<<63-1), decimal128.FromI64(0), decimal128.FromI64(-1)}
	for range 400 {
		k := r.IntN(len(sums))
		var factors [2]decimal128.Num
		for i := range factors {
			factors[i] = decimal128.FromI64(int64(r.Uint64()) >> r.IntN(64))
			switch r.IntN(4) {
			case 0:
				factors[i] = edges[r.IntN(len(edges))]
			case 1:
				factors[i] = decimal128.New(int64(r.Uint64())>>(20+r.IntN(44)), r.Uint64())
			}
			if k == 0 { // 5·10³⁷: two of them overflow
				factors[i] = decimal128.FromBigInt([]*big.Int{new(big.Int).Mul(big.NewInt(5), digits(36)), big.NewInt(10)}[i])
			}
		}
		b.Field(0).(*array.Int32Builder).Append(int32(k))
		b.Field(1).(*array.Decimal128Builder).Append(factors[0])
		b.Field(2).(*array.Decimal128Builder).Append(factors[1])
		product := new(big.Int).Mul(factors[0].BigInt(), factors[1].BigInt())
		if product.CmpAbs(most) >= 0 {
			continue // null
		}
		if sums[k] == nil {
			sums[k] = new(big.Int)
		}
		sums[k].Add(sums[k], product)
	}
	var want []string
	for _, sum := range sums {
		if sum == nil || sum.CmpAbs(most) >= 0 {
			want = append(want, "null")
			continue
		}
		want = append(want, sum.String())
	}
	require.Equal(t, "null", want[0])
	record := b.NewRecord()
	defer record.Release()
	for _, choice := range []strategy.Group{{Add: strategy.Tiles, MeasuredRows: 1}, {Add: strategy.Tiles}, {Add: strategy.Tiles, Without: strategy.FusedExpressions}} {
		eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), []group.Aggregate{group.Sum(expr.Col("x").Mul(expr.Col("y")))}, group.ByOptions{Order: group.ByKey})
			require.NoError(t, err)
			require.NoError(t, table.Release())
			got := columntest.Fetch(t, made).Column(1).(*array.Decimal128)
			for i := range want {
				text := "null"
				if got.IsValid(i) {
					text = got.Value(i).BigInt().String()
				}
				require.Equal(t, want[i], text, "group %d, %+v", i, choice)
			}
		})
	}
}

// TestValuesTakeNoMemory requires that sums of expressions allocate no columns: with them the peak is higher by
// the two columns.
func TestValuesTakeNoMemory(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.OpenKernels(t), memory.Options{})
	const rows = 6000
	record := valueRecord(t, property.Random(t), rows, false)
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	short := expr.Col("short")
	product := short.Mul(expr.Lit(1).Sub(short))
	list := []group.Aggregate{group.Sum(short), group.Sum(product), group.Mean(product.Mul(short)), group.CountAll()}
	var peaks [2]uint64
	for i, without := range []strategy.GroupParts{0, strategy.FusedExpressions} {
		ctx := strategy.WithGroup(t.Context(), strategy.Group{Add: strategy.Tiles, MeasuredRows: 1, Without: without})
		for range 2 { // the first call learns the bounds of the keys
			mgr.ResetPeak()
			made, err := group.By(table, group.Columns("k", "small")...).Aggregate(ctx, list)
			require.NoError(t, err)
			peaks[i] = mgr.Stats().Peak
			require.NoError(t, made.Release())
		}
	}
	require.GreaterOrEqual(t, peaks[1], peaks[0]+2*16*rows)
}

// TestFloatsOfExpressions compares sums of floats of expressions with those of the host, bit for bit: of values
// inside and outside of windows, with room for many and for two of these, which computes the sums again.
func TestFloatsOfExpressions(t *testing.T) {
	dev := devicetest.OpenKernels(t)
	host, mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
	r := property.Random(t)
	x, y := expr.Col("x"), expr.Col("y")
	list := []group.Aggregate{
		group.Sum(x.Mul(expr.Lit(-2.0))), group.Mean(x.Neg()).Where(expr.Col("b")), group.Sum(y.Mul(expr.Lit(float32(0.5)))), group.Sum(x), group.Max(x.Abs()), group.Sum(expr.Col("d").Neg()),
	}
	choices := []strategy.Group{{Add: strategy.Tiles, MeasuredRows: 1}, {Add: strategy.Tiles, MeasuredRows: 1, Outside: 2}, {Add: strategy.Tiles, SlotBytes: 2500}}
	for i, name := range slices.Sorted(maps.Keys(spreads)) {
		n := 300
		if !brief(mgr) {
			n = 5000
		}
		record := tileRecord(r, n, 1+r.IntN(9), spreads[name])
		aggregate := func(t *testing.T, table *buffer.Buffer, choice strategy.Group) *buffer.Buffer {
			made, err := group.By(table, group.Columns("k")...).Aggregate(strategy.WithGroup(t.Context(), choice), list, group.ByOptions{Order: group.ByKey})
			require.NoError(t, err)
			return made
		}
		want := aggregateValues(t, host, record, false, strategy.Group{}, aggregate)
		for j, choice := range choices {
			if brief(mgr) && i%2 != j%2 {
				continue
			}
			got := aggregateValues(t, mgr, record, false, choice, aggregate)
			for k, column := range want.Columns() {
				require.Equal(t, exactTexts(column), exactTexts(got.Column(k)), "%s, %+v, column %d", name, choice, k)
			}
		}
		record.Release()
	}
}
