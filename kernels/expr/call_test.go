package expr_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

func TestCallsThatAreRefused(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float64}}, nil)
	_, err := expr.Bind(schema, expr.Call("degrees", expr.Col("a")))
	require.NoError(t, err)
	_, err = expr.Bind(schema, expr.Call("degree", expr.Col("a")))
	require.ErrorIs(t, err, expr.ErrType)
	require.ErrorContains(t, err, `no function "degree" exists`)
	_, err = expr.Bind(schema, expr.Call("hypot", expr.Col("a")))
	require.ErrorIs(t, err, expr.ErrType)
	require.ErrorContains(t, err, "hypot of 1 operands, it takes 2")
	_, err = expr.Bind(schema, expr.Call("popcount", expr.Col("a")))
	require.ErrorIs(t, err, expr.ErrType)
	require.ErrorContains(t, err, "popcount of float64, it is of integers")
}
