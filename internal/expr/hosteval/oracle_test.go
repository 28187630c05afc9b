package hosteval_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// oracle is an operation that arrow-go computes as package exprtree documents it, for
// values without nulls. kernels/RATIONALE.md lists the operations that differ.
type oracle struct {
	e        expr.Expr
	function string
	options  compute.FunctionOptions
	two      bool
	of       func(arrow.DataType) bool
}

func anyNumber(arrow.DataType) bool  { return true }
func isFloat(t arrow.DataType) bool  { return arrow.IsFloating(t.ID()) }
func isSigned(t arrow.DataType) bool { return isFloat(t) || arrow.IsSignedInteger(t.ID()) }
func isInteger(t arrow.DataType) bool {
	return !isFloat(t)
}

func oracles() []oracle {
	all := []oracle{
		{a.Add(b), "add_unchecked", nil, true, anyNumber},
		{a.Sub(b), "subtract_unchecked", nil, true, anyNumber},
		{a.Mul(b), "multiply_unchecked", nil, true, anyNumber},
		{a.Div(b), "divide_unchecked", nil, true, isFloat},
		{a.Neg(), "negate_unchecked", nil, false, isSigned},
		{a.Abs(), "abs_unchecked", nil, false, isSigned},
		{a.Sqrt(), "sqrt_unchecked", nil, false, isFloat},
		{a.Floor(), "floor", nil, false, isFloat},
		{a.Ceil(), "ceil", nil, false, isFloat},
		{a.Trunc(), "trunc", nil, false, isFloat},
		{a.Eq(b), "equal", nil, true, isInteger},
		{a.Ne(b), "not_equal", nil, true, isInteger},
		{a.Lt(b), "less", nil, true, isInteger},
		{a.Le(b), "less_equal", nil, true, isInteger},
		{a.Gt(b), "greater", nil, true, isInteger},
		{a.Ge(b), "greater_equal", nil, true, isInteger},
	}
	for _, to := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		all = append(all, oracle{a.Cast(to), "cast", compute.UnsafeCastOptions(to), false, anyNumber})
	}
	return all
}

// TestAgainstArrow compares with arrow-go's compute functions, over more rows than a
// block has, in slices that begin inside a byte.
func TestAgainstArrow(t *testing.T) {
	const rows = 5_003
	numbers := computed()[1:11]
	compared := 0
	for _, dataType := range numbers {
		values := exprtest.NewValues(7)
		x, y := values.Array(dataType, rows+5), values.Array(dataType, rows+5)
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dataType}, {Name: "b", Type: dataType}}, nil)
		for _, o := range oracles() {
			if !o.of(dataType) {
				continue
			}
			compared++
			inputs := []arrow.Array{array.NewSlice(x, 5, rows+5), array.NewSlice(y, 3, rows+3)}
			program := exprtest.Program(t, schema, o.e)
			if !o.two {
				inputs = inputs[:1]
			}
			got, err := hosteval.Evaluate(context.Background(), program, inputs, rows)
			require.NoError(t, err, "%v of %v", o.e, dataType)
			require.Len(t, got, 1)

			arguments := make([]compute.Datum, len(inputs))
			for i, input := range inputs {
				arguments[i] = compute.NewDatumWithoutOwning(withoutNulls(input))
			}
			result, err := compute.CallFunction(context.Background(), o.function, o.options, arguments...)
			require.NoError(t, err, "%v of %v", o.e, dataType)
			want := result.(*compute.ArrayDatum).MakeArray()
			require.Equal(t, want.DataType(), got[0].DataType())
			nulls := 0
			for i := range rows {
				null := false
				for _, input := range inputs {
					null = null || input.IsNull(i)
				}
				require.Equal(t, null, got[0].IsNull(i), "%v of %v: row %d", o.e, dataType, i)
				if null {
					nulls++
					continue
				}
				require.Equal(t, want.ValueStr(i), got[0].ValueStr(i), "%v of %v: row %d", o.e, dataType, i)
			}
			require.Equal(t, nulls, got[0].NullN())
		}
	}
	require.Greater(t, compared, 100)
}

func withoutNulls(values arrow.Array) arrow.Array {
	data := values.Data()
	return array.MakeFromData(array.NewData(data.DataType(), data.Len(), []*arrowmemory.Buffer{nil, data.Buffers()[1]}, nil, 0, data.Offset()))
}
