package hosteval_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var units = []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond}

// computed returns types of every kind with computations.
func computed() []arrow.DataType {
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
	}
	for _, unit := range units {
		types = append(types, &arrow.TimestampType{Unit: unit}, &arrow.DurationType{Unit: unit})
	}
	for _, d := range [][2]int32{{1, 0}, {5, 2}, {18, 4}, {20, 0}, {38, 0}, {38, 20}, {38, 38}} {
		types = append(types, &arrow.Decimal128Type{Precision: d[0], Scale: d[1]})
	}
	return types
}

var a, b = expr.Col("a"), expr.Col("b")

// check evaluates expressions over columns a and b of the types. It skips expressions
// that are refused, and returns the number of the others.
func check(t *testing.T, rows int, left, right arrow.DataType, expressions ...expr.Expr) (accepted int) {
	t.Helper()
	values := exprtest.NewValues(uint64(rows))
	values.Sliced = true
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: left}, {Name: "b", Type: right}}, nil)
	arrays := []arrow.Array{values.Array(left, rows), values.Array(right, rows)}
	for _, e := range expressions {
		bound, err := expr.Bind(schema, e)
		if err != nil {
			require.ErrorIs(t, err, expr.ErrType)
			continue
		}
		if (*exprtree.Bound)(bound).HasSteps() {
			continue // such as a division of decimals
		}
		program := (*exprtree.Bound)(bound).Program()
		accepted++
		inputs := make([]arrow.Array, len(program.Inputs))
		for i, place := range program.Inputs {
			inputs[i] = arrays[place]
		}
		got, err := hosteval.Evaluate(context.Background(), program, inputs, rows)
		require.NoError(t, err, "%v", e)
		want := exprtest.Model(program, inputs, rows)
		for i := range want {
			if kind := program.Outputs[i].Kind(); kind != exprtree.Other {
				exprtest.CompareModel(at{t, fmt.Sprint(e, " of ", left, " and ", right)}, want[i], got[i], tolerance(program.Outputs[i].Op))
			}
			got[i].Release()
		}
	}
	return accepted
}

// tolerance returns the maximum distance of results from the exact ones.
func tolerance(op exprtree.Op) uint64 {
	switch op {
	case exprtree.Power, exprtree.Exp, exprtree.Log, exprtree.Sin, exprtree.Cos:
		return 1
	}
	return 0
}

// at is a test that reports the compared operation.
type at struct {
	*testing.T
	what string
}

func (a at) Fatalf(format string, args ...any) {
	a.Helper()
	a.T.Fatalf(a.what+": "+format, args...)
}

func TestEveryCast(t *testing.T) {
	accepted := 0
	for _, from := range computed() {
		for _, to := range computed() {
			accepted += check(t, 300, from, from, a.Cast(to), a.CastWrap(to))
		}
	}
	require.Greater(t, accepted, 600)
}

func TestEveryOperationOfTwo(t *testing.T) {
	accepted := 0
	for _, left := range computed() {
		for _, right := range computed() {
			accepted += check(t, 80, left, right,
				a.Add(b), a.Sub(b), a.Mul(b), a.Div(b), a.Mod(b), a.Pow(b),
				a.BitAnd(b), a.BitOr(b), a.BitXor(b), a.ShiftLeft(b), a.ShiftRight(b),
				a.Eq(b), a.Ne(b), a.Lt(b), a.Le(b), a.Gt(b), a.Ge(b),
				a.And(b), a.Or(b), a.Xor(b), a.AndStrict(b), a.OrStrict(b),
				a.AddDays(b), a.AddMonths(b), a.AddYears(b), a.DaysSince(b), expr.Min(a, b), expr.Max(a, b), expr.Coalesce(a, b), a.FillNull(b), expr.Hash(a, b), a.Clamp(b, a))
		}
	}
	require.Greater(t, accepted, 3000)
}

func TestEveryOperationOfOne(t *testing.T) {
	for _, dataType := range computed() {
		accepted := check(t, 400, dataType, dataType,
			a.Neg(), a.Abs(), a.Sign(), a.Sqrt(), a.Exp(), a.Log(), a.Sin(), a.Cos(), a.Floor(), a.Ceil(), a.Trunc(), a.Round(),
			a.BitNot(), a.Not(), a.IsNull(), a.IsValid(), a.IsNaN(), expr.Hash(a), a.Eq(a), a.Lt(expr.Null(dataType)),
			a.Year(), a.Quarter(), a.Month(), a.Day(), a.DayOfYear(), a.Weekday(), a.Hour(), a.Minute(), a.Second(), a.Subsecond(),
			a.Truncate("year"), a.Truncate("quarter"), a.Truncate("month"), a.Truncate("week"), a.Truncate("day"), a.Truncate("minute"), a.Truncate("microsecond"),
			expr.If(a.IsNull(), expr.Null(dataType), a))
		require.GreaterOrEqual(t, accepted, 5, "%v", dataType)
	}
}

// TestManyRows has more rows than one block.
func TestManyRows(t *testing.T) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32}
	for _, dataType := range types {
		for _, rows := range []int{1000, 40_003} {
			check(t, rows, dataType, dataType, a.Add(b).Gt(a.Mul(b)), a.Cast(arrow.PrimitiveTypes.Float64), a.Sub(expr.Lit(1)).Neg(), a.Abs().Lt(b))
		}
	}
}

func TestStringsOfEveryType(t *testing.T) {
	plain := []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
		&arrow.FixedSizeBinaryType{ByteWidth: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 0},
	}
	types := plain
	for i, index := range computed()[1:9] {
		types = append(types, &arrow.DictionaryType{IndexType: index, ValueType: plain[i%5]})
	}
	for _, left := range types {
		for _, right := range types {
			accepted := check(t, 200, left, right, a.Eq(b), a.Ne(b), a.Lt(b), a.Le(b), a.Gt(b), a.Ge(b), expr.Hash(a, b))
			require.Equal(t, 7, accepted)
		}
		for _, text := range []string{"", "a", "abc", "abcdefgh", "\x00"} {
			literal := expr.Lit(text)
			accepted := check(t, 200, left, left, a.Eq(literal), literal.Ne(a), a.HasPrefix(literal), a.HasSuffix(literal), a.IsNull(), a.Lt(literal), literal.Le(a), a.Gt(literal), a.Ge(literal),
				a.Contains(literal), a.Find(literal), a.In(literal, nil), a.LengthBytes(), a.LengthChars(), a.Like("%a_c%"), a.Trim().Eq(literal))
			require.Equal(t, 16, accepted)
		}
	}
}

func TestNullsOfColumnsOfAnyType(t *testing.T) {
	for _, dataType := range arraytest.AllTypes() {
		check(t, 100, dataType, dataType, a.IsNull(), a.IsValid())
	}
}

func TestFunctionsAreAccurate(t *testing.T) {
	for _, dataType := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		check(t, 1000, dataType, dataType, a.Exp(), a.Log(), a.Sin(), a.Cos(), a.Pow(b), a.Abs().Pow(expr.Lit(0.5)))
	}
}
