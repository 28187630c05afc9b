package hosteval_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func fromJSON(t testing.TB, dataType arrow.DataType, json string) arrow.Array {
	made, _, err := array.FromJSON(arrowmemory.DefaultAllocator, dataType, strings.NewReader(json))
	require.NoError(t, err)
	return made
}

// TestWhatIsDocumented fixes results that the documentation defines and no model
// computes.
func TestWhatIsDocumented(t *testing.T) {
	i8, i32, i64 := arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	u8, f32, f64 := arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64
	boolean := arrow.FixedWidthTypes.Boolean
	seconds := arrow.FixedWidthTypes.Timestamp_s
	decimal := &arrow.Decimal128Type{Precision: 3, Scale: 2}
	cases := []struct {
		a    arrow.DataType
		of   string
		e    expr.Expr
		want string
	}{
		{i8, "[127, -128, null]", a.Add(expr.Lit(1)), "[-128 -127 (null)]"},
		{i8, "[-128, 7, -7]", a.Div(expr.Lit(-1)), "[-128 -7 7]"},
		{i8, "[-7, 7]", a.Div(expr.Lit(2)), "[-3 3]"},
		{i8, "[-7, 7]", a.Div(expr.Lit(0)), "[(null) (null)]"},
		{i8, "[-7, 7]", a.Mod(expr.Lit(4)), "[-3 3]"},
		{i8, "[-128, -3]", a.Abs(), "[-128 3]"},
		{i8, "[-128, -3]", a.ShiftRight(expr.Lit(1)), "[-64 -2]"},
		{i8, "[0, 7, 8, -1]", expr.LitOf(i8, 1).ShiftLeft(a), "[1 -128 (null) (null)]"},
		{i32, "[300, -1, 255]", a.Cast(u8), "[(null) (null) 255]"},
		{i32, "[300, -1, 255]", a.CastWrap(u8), "[44 255 255]"},
		{f64, "[2.9, -2.9, 300, -0.5]", a.Cast(i8), "[2 -2 (null) 0]"},
		{f64, "[2.9, -2.9, 300, -0.5]", a.CastWrap(u8), "[2 0 255 0]"},
		{f64, "[0.5, 1.5, 2.5, -0.5]", a.Round(), "[0 2 2 -0]"},
		{f64, "[0.125, 1.005, -9.999, 10]", a.Cast(decimal), "[{13 0} {100 0} (null) (null)]"},
		{decimal, `["1.99", "-1.99", "0.50", "-0.50", "0.49", null]`, a.Cast(i64), "[2 -2 1 -1 0 (null)]"},
		{decimal, `["1.99", "-1.99", null]`, a.Cast(f64), "[1.99 -1.99 (null)]"},
		{decimal, `["9.99", "0.05", "-0.05", "0.04"]`, a.Cast(&arrow.Decimal128Type{Precision: 3, Scale: 1}), "[{100 0} {1 0} {18446744073709551615 -1} {0 0}]"},
		{decimal, `["9.99", "9.49"]`, a.Cast(&arrow.Decimal128Type{Precision: 2, Scale: 1}), "[(null) {95 0}]"},
		{decimal, `["9.99"]`, a.Add(expr.Lit(1)), "[{1099 0}]"},
		{boolean, "[true, false, null]", a.And(expr.Null(boolean)), "[(null) false (null)]"},
		{boolean, "[true, false, null]", a.Or(expr.Lit(true)), "[true true true]"},
		{boolean, "[true, false, null]", a.And(expr.Lit(false)), "[false false false]"},
		{boolean, "[true, false, null]", a.AndStrict(expr.Lit(false)), "[false false (null)]"},
		{boolean, "[true, false, null]", a.OrStrict(expr.Lit(true)), "[true true (null)]"},
		{boolean, "[true, false, null]", expr.If(a, expr.Lit(1), expr.Null(i8)), "[1 (null) (null)]"},
		{i8, "[5, null]", expr.Min(a, expr.Lit(3)), "[3 3]"},
		{i8, "[5, null, -5]", a.Clamp(expr.Lit(0), expr.Lit(3)), "[3 (null) 0]"},
		{i8, "[5, null]", a.FillNull(expr.Lit(0)), "[5 0]"},
		{f32, "[1e30, 1]", a.Mul(expr.Lit(1e30)), "[+Inf 1e+30]"},
		{seconds, "[-1, 951782400, 4107542400]", a.Day(), "[31 29 1]"},
		{seconds, "[-1, 951782400, 4107542400]", a.DayOfYear(), "[365 60 60]"},
		{seconds, "[-1, 0]", a.Weekday(), "[2 3]"},
		{seconds, "[-1, 0]", a.Cast(arrow.FixedWidthTypes.Date32).Cast(i64), "[-1 0]"},
		{seconds, "[-1]", a.Hour(), "[23]"},
	}
	for _, c := range cases {
		t.Run(c.e.String(), func(t *testing.T) {
			program := exprtest.Program(t, arrow.NewSchema([]arrow.Field{{Name: "a", Type: c.a}}, nil), c.e)
			input := fromJSON(t, c.a, c.of)
			got, err := hosteval.Evaluate(context.Background(), program, []arrow.Array{input}, input.Len())
			require.NoError(t, err)
			require.Equal(t, c.want, got[0].String())
		})
	}
}

func TestNotANumber(t *testing.T) {
	builder := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	builder.AppendValues([]float64{math.NaN(), 1}, nil)
	input := builder.NewArray()
	program := exprtest.Program(t, arrow.NewSchema([]arrow.Field{{Name: "a", Type: input.DataType()}}, nil),
		a.Eq(a), a.Ne(a), expr.Min(a, expr.Lit(2.0)), expr.Max(expr.Lit(-2.0), a), a.Cast(arrow.PrimitiveTypes.Int8), a.Lt(expr.Lit(math.Inf(1))))
	got, err := hosteval.Evaluate(context.Background(), program, []arrow.Array{input}, 2)
	require.NoError(t, err)
	for i, want := range []string{"[true true]", "[false false]", "[2 1]", "[-2 1]", "[(null) 1]", "[false true]"} {
		require.Equal(t, want, got[i].String())
	}
}

func TestOnlyTheFirstRowsCount(t *testing.T) {
	input := fromJSON(t, arrow.PrimitiveTypes.Int8, "[1, 2, 3]")
	program := exprtest.Program(t, arrow.NewSchema([]arrow.Field{{Name: "a", Type: input.DataType()}}, nil), a, a.Neg(), expr.Lit(7))
	got, err := hosteval.Evaluate(context.Background(), program, []arrow.Array{input}, 2)
	require.NoError(t, err)
	require.Equal(t, "[1 2]", got[0].String())
	require.Equal(t, "[-1 -2]", got[1].String())
	require.Equal(t, "[7 7]", got[2].String())

	_, err = hosteval.Evaluate(context.Background(), program, []arrow.Array{input}, 4)
	require.ErrorIs(t, err, arrow.ErrInvalid)
	_, err = hosteval.Evaluate(context.Background(), program, nil, 2)
	require.ErrorIs(t, err, arrow.ErrInvalid)
	ended, end := context.WithCancelCause(context.Background())
	cause := errors.New("cause")
	end(cause)
	_, err = hosteval.Evaluate(ended, program, []arrow.Array{input}, 2)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, cause)
}
