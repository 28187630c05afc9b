package expr_test

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// floorQuotient is x / y rounded down with its remainder; ok is false for a zero y.
func floorQuotient(x, y *big.Int) (quotient, rest *big.Int, ok bool) {
	if y.Sign() == 0 {
		return nil, nil, false
	}
	quotient, rest = new(big.Int).QuoRem(x, y, new(big.Int))
	if rest.Sign() != 0 && rest.Sign() != y.Sign() {
		quotient.Sub(quotient, big.NewInt(1))
		rest.Add(rest, y)
	}
	return quotient, rest, true
}

// TestFloorDivisions compares quotients of whole numbers and of durations with integers without
// bounds.
func TestFloorDivisions(t *testing.T) {
	var pairs [][2]*big.Int
	random := property.Random(t)
	for range 300 {
		pairs = append(pairs, [2]*big.Int{big.NewInt(random.Int64N(256) - 128), big.NewInt(random.Int64N(20) - 10)})
	}
	second, millisecond := span(arrow.Second), span(arrow.Millisecond)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, c := range []struct {
			left, right arrow.DataType
			// leftScale and rightScale convert both to the finer unit.
			leftScale, rightScale int64
		}{
			{i8, i8, 1, 1}, {i64, i64, 1, 1}, {i8, i64, 1, 1},
			{millisecond, second, 1, 1000}, {second, span(arrow.Nanosecond), 1e9, 1}, {second, i8, 1, 1}, {millisecond, i64, 1, 1},
		} {
			table := tableOf(t, mgr, integersOf(t, i64, pairs, 0), integersOf(t, i64, pairs, 1))
			x, y := a.Cast(c.left), b.Cast(c.right)
			byNumber := c.left.ID() == arrow.DURATION && c.right.ID() != arrow.DURATION
			expressions := []expr.Expr{x.FloorDiv(y).Cast(i64), x.FloorMod(y).Cast(i64)}
			if byNumber {
				expressions[1] = x.TrueDiv(y).Cast(i64)
			}
			results, err := expr.Evaluate(ctx, table, expressions)
			require.NoError(t, err)
			quotients, others := arrayOf(t, results[0]), arrayOf(t, results[1])
			for row, pair := range pairs {
				left, right := new(big.Int).Mul(pair[0], big.NewInt(c.leftScale)), new(big.Int).Mul(pair[1], big.NewInt(c.rightScale))
				quotient, other, ok := floorQuotient(left, right)
				if !ok {
					require.True(t, quotients.IsNull(row) && others.IsNull(row), "%v by %v", left, right)
					continue
				}
				if byNumber {
					other.Quo(left, right)
				}
				require.Equal(t, []string{quotient.String(), other.String()}, []string{quotients.ValueStr(row), others.ValueStr(row)}, "%v: %v by %v", expressions, left, right)
			}
			require.NoError(t, results[0].Release())
			require.NoError(t, results[1].Release())
		}
	})
}

// TestQuotientTypes has the types and values of quotients that are no whole numbers.
func TestQuotientTypes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, fromJSON(t, i64, "[18000, -5, 0]"), fromJSON(t, i64, "[7200000, 2000, 0]"),
			fromJSON(t, i32, "[7, -7, 1]"), fromJSON(t, arrow.PrimitiveTypes.Float64, "[2, -2, 0]"), fromJSON(t, decimal(5, 2), `["1.50", "-2.50", "0.10"]`),
			fromJSON(t, f32, "[0.1, -7, 1]"))
		a, b := a.Cast(span(arrow.Second)), b.Cast(span(arrow.Millisecond))
		c, d, e, f := expr.Col("c"), expr.Col("d"), expr.Col("e"), expr.Col("f")
		for _, each := range []struct {
			e    expr.Expr
			t    arrow.DataType
			want string
		}{
			{a.TrueDiv(b), arrow.PrimitiveTypes.Float64, "[2.5 -2.5 NaN]"},
			{a.TrueDiv(expr.Lit(2)), span(arrow.Second), "[9000 -2 0]"},
			{a.FloorDiv(expr.Lit(2)), span(arrow.Second), "[9000 -3 0]"},
			{a.TrueDiv(expr.Lit(2.5)), span(arrow.Second), "[7200 -2 0]"},
			{a.FloorDiv(d), span(arrow.Second), "[9000 2 (null)]"},
			{a.TrueDiv(e), span(arrow.Second), "[12000 2 0]"},
			{c.TrueDiv(expr.Lit(2)), arrow.PrimitiveTypes.Float64, "[3.5 -3.5 0.5]"},
			{c.FloorDiv(expr.Lit(2.0)), arrow.PrimitiveTypes.Float64, "[3 -4 0]"},
			{e.TrueDiv(expr.Lit(2)), arrow.PrimitiveTypes.Float64, "[0.75 -1.25 0.05]"},
			{f.TrueDiv(expr.Lit(2)), f32, "[0.05 -3.5 0.5]"},
			{f.FloorMod(expr.Lit(3)), f32, "[0.1 2 1]"},
			{expr.Lit(1).TrueDiv(c), arrow.PrimitiveTypes.Float64, "[0.14285714285714285 -0.14285714285714285 1]"},
		} {
			results, err := expr.Evaluate(ctx, table, []expr.Expr{each.e})
			require.NoError(t, err, "%v", each.e)
			require.Equal(t, each.t.String(), results[0].Type().String(), "%v", each.e)
			require.Equal(t, each.want, fmt.Sprint(arrayOf(t, results[0])), "%v", each.e)
			require.NoError(t, results[0].Release())
		}
	})
}

// TestRoundDigits compares with decimal texts: strconv rounds the exact value of a float, so
// values are used that are no halves.
func TestRoundDigits(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := property.Random(t)
		made := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
		defer made.Release()
		for range 500 {
			made.Append((random.Float64() - 0.5) * math.Pow10(random.IntN(12)))
		}
		made.AppendValues([]float64{2.5, 0.125, 0.375, 1e300, math.MaxFloat64, -1e15, math.Inf(-1), math.NaN()}, nil)
		values := made.NewFloat64Array()
		table := tableOf(t, mgr, values)
		for _, digits := range []int{0, 1, 2, 5, -1, -3, 300} {
			results, err := expr.Evaluate(ctx, table, []expr.Expr{a.RoundDigits(digits)})
			require.NoError(t, err)
			got := arrayOf(t, results[0]).(*array.Float64)
			for i, value := range values.Float64Values() {
				want, scaled := roundedText(value, digits), math.Abs(value)*math.Pow10(digits)
				if tie := math.Abs(scaled - math.Floor(scaled) - 0.5); scaled > 1e6 && tie < 1e-2 && scaled < 1<<52 {
					continue // the product is a tie and the exact number is not
				}
				require.InDelta(t, want, got.Value(i), math.Abs(want)*1e-15, "%v to %d digits", value, digits)
			}
			require.NoError(t, results[0].Release())
		}
		for _, digits := range []int{301, -301} {
			_, err := expr.Bind(table.Schema(), a.RoundDigits(digits))
			require.ErrorContains(t, err, "they have to be -300 to 300")
		}
	})
}

// TestRoundDecimals compares with math/big, at halves and at the ends of the types.
func TestRoundDecimals(t *testing.T) {
	types := []*arrow.Decimal128Type{{Precision: 9, Scale: 2}, {Precision: 38}, {Precision: 38, Scale: 38}, {Precision: 38, Scale: 20}, {Precision: 3, Scale: 3}}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		values := exprtest.NewValues(property.Random(t).Uint64())
		for _, of := range types {
			b := array.NewDecimal128Builder(arrowmemory.DefaultAllocator, of)
			for range 200 {
				b.Append(values.Decimal(of))
			}
			for digit := range int(of.Precision) {
				half := new(big.Int).Mul(big.NewInt(5), power(digit))
				for _, x := range []*big.Int{half, new(big.Int).Sub(half, big.NewInt(1)), new(big.Int).Neg(half)} {
					b.Append(decimal128.FromBigInt(x))
				}
			}
			decimals := b.NewDecimal128Array()
			b.Release()
			table := tableOf(t, mgr, decimals)
			for _, digits := range []int{0, 1, 2, 5, 19, 38, -1, -3, -17, -38} {
				e := a.RoundDigits(digits)
				if digits == 0 && of.Scale == 2 {
					e = a.Round()
				}
				results, err := expr.Evaluate(ctx, table, []expr.Expr{e})
				if digits <= int(of.Scale)-38 && digits < 0 {
					require.ErrorIs(t, err, expr.ErrType)
					continue
				}
				require.NoError(t, err)
				got := arrayOf(t, results[0]).(*array.Decimal128)
				to := got.DataType().(*arrow.Decimal128Type)
				require.Equal(t, min(int32(max(digits, 0)), of.Scale), to.Scale)
				for i := range decimals.Len() {
					want := roundedDecimal(decimals.Value(i).BigInt(), int(of.Scale), digits)
					if want.CmpAbs(power(int(to.Precision))) >= 0 {
						require.True(t, got.IsNull(i), "%v of %v to %d digits", decimals.Value(i).BigInt(), of, digits)
						continue
					}
					require.Equal(t, want.String(), got.Value(i).BigInt().String(), "%v of %v to %d digits", decimals.Value(i).BigInt(), of, digits)
				}
				require.NoError(t, results[0].Release())
			}
			decimals.Release()
		}
	})
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// roundedDecimal returns the unscaled value of a decimal that is rounded half away from zero to digits.
func roundedDecimal(x *big.Int, scale, digits int) *big.Int {
	if digits >= scale {
		return x
	}
	unit := power(scale - digits)
	rounded, rest := new(big.Int).QuoRem(x, unit, new(big.Int))
	if rest.Lsh(rest, 1).CmpAbs(unit) >= 0 {
		rounded.Add(rounded, big.NewInt(int64(x.Sign())))
	}
	return rounded.Mul(rounded, power(max(-digits, 0)))
}

// roundedText rounds to digits by way of text.
func roundedText(value float64, digits int) float64 {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return value
	}
	scaled, _ := new(big.Float).SetString(strconv.FormatFloat(value, 'f', max(digits, 0), 64))
	if digits < 0 {
		power := math.Pow10(-digits)
		return math.RoundToEven(value/power) * power
	}
	rounded, _ := scaled.Float64()
	return rounded
}
