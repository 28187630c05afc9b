package expr_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

var (
	instantTypes = []arrow.DataType{
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, &arrow.TimestampType{Unit: arrow.Second},
		&arrow.TimestampType{Unit: arrow.Millisecond}, &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Nanosecond},
	}
	durationTypes = []arrow.DataType{
		arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.Duration_us, arrow.FixedWidthTypes.Duration_ns,
	}
)

// ticks is the length of a unit of a type in nanoseconds.
func ticks(t arrow.DataType) *big.Int { return big.NewInt(86_400e9 / exprtree.DayOf(t)) }

// instantsNear draws values of a type: near the ends of it, near the ends of nanoseconds, near 0,
// and anywhere.
func instantsNear(t *rapid.T, of arrow.DataType, n int) (arrow.Array, []*big.Int) {
	values, bits := make([]*big.Int, n), exprtree.KindOf(of).Bits()
	b := array.NewBuilder(arrowmemory.DefaultAllocator, of)
	defer b.Release()
	step := int64(1)
	if of.ID() == arrow.DATE64 {
		step = 86_400_000
	}
	for i := range values {
		if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
			b.AppendNull()
			continue
		}
		end := rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}).Draw(t, "end")
		near := end >> (64 - bits)
		switch rapid.IntRange(0, 3).Draw(t, "near") {
		case 0:
			near = new(big.Int).Div(big.NewInt(end), ticks(of)).Int64()
		case 1:
			near = 0
		case 2:
			near = rapid.Int64Range(math.MinInt64>>(64-bits), math.MaxInt64>>(64-bits)).Draw(t, "any")
		}
		v := near + rapid.Int64Range(-3, 3).Draw(t, "beside")*step
		if bits == 32 {
			v = int64(int32(v))
		}
		v -= v % step
		values[i] = big.NewInt(v)
		switch b := b.(type) {
		case *array.Date32Builder:
			b.Append(arrow.Date32(v))
		case *array.Date64Builder:
			b.Append(arrow.Date64(v))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(v))
		case *array.DurationBuilder:
			b.Append(arrow.Duration(v))
		}
	}
	return b.NewArray(), values
}

// evaluated returns the values of an expression of a table.
func evaluated(t *testing.T, table *buffer.Buffer, e expr.Expr) arrow.Array {
	columns, err := expr.Evaluate(t.Context(), table, []expr.Expr{e})
	require.NoError(t, err)
	defer func() { require.NoError(t, columns[0].Release()) }()
	return arrayOf(t, columns[0])
}

// exactly compares the results of expressions of two columns with those of big integers: x and y
// in nanoseconds. A result is a *big.Int in nanoseconds, a bool, or nil.
func exactly(t *rapid.T, mgr *memory.Manager, test *testing.T, left, right arrow.DataType, want map[string]func(x, y *big.Int) any, of func(name string) expr.Expr) {
	const rows = 40
	a, xs := instantsNear(t, left, rows)
	b, ys := instantsNear(t, right, rows)
	defer a.Release()
	defer b.Release()
	table := tableOf(test, mgr, a, b)
	for name, oracle := range want {
		got := evaluated(test, table, of(name))
		for i := range rows {
			var expected any
			if xs[i] != nil && ys[i] != nil {
				expected = oracle(new(big.Int).Mul(xs[i], ticks(left)), new(big.Int).Mul(ys[i], ticks(right)))
			}
			if nanoseconds, ok := expected.(*big.Int); ok {
				// The finest unit has whole numbers.
				if expected = any(nil); new(big.Int).Div(nanoseconds, ticks(got.DataType())).IsInt64() {
					expected = new(big.Int).Div(nanoseconds, ticks(got.DataType())).Int64()
				}
			}
			if value := exprtest.Cell(got, i); value != expected {
				t.Fatalf("%s of %v %v and %v %v is %v, expected %v", name, left, xs[i], right, ys[i], value, expected)
			}
		}
		got.Release()
	}
}

// TestTimesOfTwoUnitsCompareExactly compares times of all units at the ends of their types.
func TestTimesOfTwoUnitsCompareExactly(t *testing.T) {
	a, b := expr.Col("a"), expr.Col("b")
	expressions := map[string]expr.Expr{"=": a.Eq(b), "≠": a.Ne(b), "<": a.Lt(b), "≤": a.Le(b), ">": a.Gt(b), "≥": a.Ge(b), "in": a.In(b)}
	want := map[string]func(x, y *big.Int) any{
		"=": func(x, y *big.Int) any { return x.Cmp(y) == 0 }, "≠": func(x, y *big.Int) any { return x.Cmp(y) != 0 },
		"<": func(x, y *big.Int) any { return x.Cmp(y) < 0 }, "≤": func(x, y *big.Int) any { return x.Cmp(y) <= 0 },
		">": func(x, y *big.Int) any { return x.Cmp(y) > 0 }, "≥": func(x, y *big.Int) any { return x.Cmp(y) >= 0 },
		"in": func(x, y *big.Int) any { return x.Cmp(y) == 0 },
	}
	eachPair(t, func(rt *rapid.T, t *testing.T, mgr *memory.Manager, left, right arrow.DataType) {
		exactly(rt, mgr, t, left, right, want, func(name string) expr.Expr { return expressions[name] })
	}, instantTypes, durationTypes)
}

// eachPair calls a function for pairs of types of one list, on each device.
func eachPair(t *testing.T, f func(rt *rapid.T, t *testing.T, mgr *memory.Manager, left, right arrow.DataType), lists ...[]arrow.DataType) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(rt *rapid.T) {
			list := rapid.SampledFrom(lists).Draw(rt, "types")
			f(rt, t, mgr, rapid.SampledFrom(list).Draw(rt, "left"), rapid.SampledFrom(list).Draw(rt, "right"))
		})
	})
}

// TestTimeArithmeticIsExactOrNull compares with big integers: a result that its type does not
// hold is null.
func TestTimeArithmeticIsExactOrNull(t *testing.T) {
	a, b := expr.Col("a"), expr.Col("b")
	sum := func(x, y *big.Int) any { return new(big.Int).Add(x, y) }
	difference := func(x, y *big.Int) any { return new(big.Int).Sub(x, y) }
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(rt *rapid.T) {
			instant, other := rapid.SampledFrom(instantTypes).Draw(rt, "instant"), rapid.SampledFrom(instantTypes).Draw(rt, "other")
			length, more := rapid.SampledFrom(durationTypes).Draw(rt, "length"), rapid.SampledFrom(durationTypes).Draw(rt, "more")
			both := func(name string) expr.Expr {
				return map[string]expr.Expr{"+": a.Add(b), "-": a.Sub(b)}[name]
			}
			exactly(rt, mgr, t, instant, length, map[string]func(x, y *big.Int) any{"+": sum, "-": difference}, both)
			exactly(rt, mgr, t, length, instant, map[string]func(x, y *big.Int) any{"+": sum}, both)
			exactly(rt, mgr, t, instant, other, map[string]func(x, y *big.Int) any{"-": difference}, both)
			exactly(rt, mgr, t, length, more, map[string]func(x, y *big.Int) any{"+": sum, "-": difference}, both)
		})
	})
}

// TestDurationsTimesIntegers multiplies and divides durations at the ends of their range.
func TestDurationsTimesIntegers(t *testing.T) {
	extremes := "[-9223372036854775808, -9223372036854775807, -4611686018427387905, -3, -1, 0, 1, 2, 4611686018427387904, 9223372036854775807, null]"
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, by := range []int64{math.MinInt64, -2, -1, 0, 1, 2, math.MaxInt64} {
			x := fromJSON(t, arrow.FixedWidthTypes.Duration_ns, extremes)
			b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
			for range x.Len() {
				b.Append(by)
			}
			factors := b.NewArray()
			table := tableOf(t, mgr, x, factors)
			factor := big.NewInt(by)
			for _, c := range []struct {
				expression expr.Expr
				exact      func(x *big.Int) *big.Int
			}{
				{expr.Col("a").Mul(expr.Col("b")), func(x *big.Int) *big.Int { return new(big.Int).Mul(x, factor) }},
				{expr.Col("a").Mul(expr.Lit(by)), func(x *big.Int) *big.Int { return new(big.Int).Mul(x, factor) }},
				{expr.Col("a").Div(expr.Col("b")), func(x *big.Int) *big.Int { return quotient(x, factor) }},
				{expr.Col("a").Div(expr.Lit(by)), func(x *big.Int) *big.Int { return quotient(x, factor) }},
				{expr.Col("a").Neg(), func(x *big.Int) *big.Int { return new(big.Int).Neg(x) }},
				{expr.Col("a").Abs(), func(x *big.Int) *big.Int { return new(big.Int).Abs(x) }},
			} {
				got := evaluated(t, table, c.expression)
				for i := range x.Len() {
					var want any
					if !x.IsNull(i) {
						if exact := c.exact(big.NewInt(int64(x.(*array.Duration).Value(i)))); exact != nil && exact.IsInt64() {
							want = exact.Int64()
						}
					}
					require.Equal(t, want, exprtest.Cell(got, i), "%v of %v and %d", c.expression, x.ValueStr(i), by)
				}
				got.Release()
			}
		}
	})
}

// quotient is nil for a divisor of zero.
func quotient(x, y *big.Int) *big.Int {
	if y.Sign() == 0 {
		return nil
	}
	return new(big.Int).Quo(x, y)
}

// TestChoicesOfTwoUnits refuses choices of values that the common type does not hold.
func TestChoicesOfTwoUnits(t *testing.T) {
	microseconds, nanoseconds := &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Nanosecond}
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: microseconds, Nullable: true}, {Name: "b", Type: nanoseconds, Nullable: true}}, nil)
	a, b := expr.Col("a"), expr.Col("b")
	for _, e := range []expr.Expr{expr.Coalesce(a, b), a.FillNull(b), expr.If(a.IsNull(), b, a), expr.Min(a, b), expr.Max(b, a), a.Clamp(b, b), expr.Coalesce(b, expr.LitOf(microseconds, arrow.Timestamp(253402214400000000)))} {
		_, _, err := e.Type(schema)
		require.ErrorIs(t, err, expr.ErrType)
		require.ErrorContains(t, err, "timestamp[ns] does not hold all values of timestamp[us]: cast it to timestamp[ns]")
	}
	for _, e := range []expr.Expr{expr.Coalesce(a.Cast(nanoseconds), b), expr.Coalesce(a, b.Cast(microseconds)), expr.Coalesce(b, expr.LitOf(microseconds, arrow.Timestamp(1))), expr.Coalesce(b, expr.Null(microseconds))} {
		_, _, err := e.Type(schema)
		require.NoError(t, err)
	}
}
