package expr_test

import (
	"math"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

func TestLiteralValues(t *testing.T) {
	cases := []struct {
		e    expr.Expr
		a    arrow.DataType
		want any
	}{
		{a.Eq(expr.Lit(3)), f32, float64(3)},
		{a.Eq(expr.Lit(0.1)), f32, float64(float32(0.1))},
		{a.Eq(expr.Lit(3)), u8, uint64(3)},
		{a.Eq(expr.Lit(3)), decimal(5, 2), decimal128.FromI64(300)},
		{a.Eq(expr.Lit(-0.05)), decimal(5, 2), decimal128.FromI64(-5)},
		{a.Lt(expr.Lit(1.5)), decimal(5, 2), decimal128.FromI64(150)},
		{a.Eq(expr.LitOf(decimal(5, 2), "-0.50")), decimal(5, 2), decimal128.FromI64(-50)},
		{a.Eq(expr.LitOf(decimal(5, 2), "12")), decimal(5, 2), decimal128.FromI64(1200)},
		{a.Eq(expr.LitOf(decimal(5, 2), "1.5000")), decimal(5, 2), decimal128.FromI64(150)},
		{a.Eq(expr.Lit(uint64(math.MaxUint64))), u64, uint64(math.MaxUint64)},
		{a.Eq(expr.Lit("x")), text, "x"},
		{a.Eq(expr.Lit([]byte("x"))), text, "x"},
		{a.Eq(expr.Lit(true)), boolean, true},
		{a.Eq(expr.Lit(time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC))), date32, int64(-1)},
		{a.Eq(expr.Lit(time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC))), date64, int64(-86_400_000)},
		{a.Eq(expr.Lit(time.Date(1969, 12, 31, 23, 59, 59, 5e8, time.UTC))), stamp(millisecond, ""), int64(-500)},
		{a.Eq(expr.Lit(time.Date(1970, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600)))), stamp(second, ""), int64(0)},
		{a.Eq(expr.Lit(90 * time.Second)), span(second), int64(90)},
		{a.Eq(expr.Lit(arrow.Date32(7))), date32, int64(7)},
		{a.Eq(expr.LitOf(stamp(second, ""), arrow.Timestamp(8))), stamp(second, ""), int64(8)},
		{a.Eq(expr.Null(i8)), i16, nil},
	}
	for _, c := range cases {
		t.Run(c.e.String(), func(t *testing.T) {
			program := exprtest.Program(t, schemaOf(c.a), c.e)
			literal := program.Outputs[0].Arguments[1]
			require.Equal(t, exprtree.Literal, literal.Op)
			require.Equal(t, c.want, literal.Value)
			require.Equal(t, c.want == nil, literal.Slot == -1)
			require.Equal(t, c.want == nil, len(program.Literals) == 0)
			require.True(t, arrow.TypeEqual(program.Outputs[0].Arguments[0].Type, literal.Type) || c.a == text)
		})
	}
}

// TestFloatsBesideDecimals binds comparisons: both sides become decimals if a decimal has the
// digits of the float, and floats otherwise.
func TestFloatsBesideDecimals(t *testing.T) {
	for _, c := range []struct {
		value float64
		want  arrow.DataType
	}{
		{0.05, decimal(15, 2)},
		{-1234.5, decimal(15, 2)},
		{0.055, decimal(16, 3)},
		{1e20, decimal(23, 2)},
		{1e40, f64},
		{1e-40, f64},
		{math.Inf(1), f64},
		{math.NaN(), f64},
	} {
		for _, e := range []expr.Expr{a.Lt(expr.Lit(c.value)), expr.Lit(c.value).Ge(a)} {
			program := exprtest.Program(t, schemaOf(decimal(15, 2)), e)
			for _, side := range program.Outputs[0].Arguments {
				require.True(t, arrow.TypeEqual(c.want, side.Type), "%v: %v", e, side.Type)
			}
		}
	}
	_, err := expr.Bind(schemaOf(decimal(15, 2)), a.Lt(expr.LitOf(decimal(5, 2), 0.005)))
	require.ErrorIs(t, err, expr.ErrLiteral)
}
