package expr_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Records are evaluated without a device, with the results of Evaluate on the host.
func TestEvaluateRecord(t *testing.T) {
	generator := arraytest.NewGenerator(5)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	columns := make([]arrow.Array, schema.NumFields())
	for i, field := range schema.Fields() {
		columns[i] = generator.Array(field.Type, 100)
	}
	record := array.NewRecord(schema, columns, 100)
	a, b := expr.Col("a"), expr.Col("b")
	expressions := []expr.Expr{expr.Col("s"), a.Add(expr.Lit(3)).Gt(b), a.IsNull().Or(b.Lt(expr.Lit(0.5))), b}
	arrays, err := expr.EvaluateRecord(t.Context(), record, expressions)
	require.NoError(t, err)
	require.Len(t, arrays, len(expressions))

	table, err := buffer.FromRecord(devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{}), record)
	require.NoError(t, err)
	defer table.Release()
	computed, err := expr.Evaluate(t.Context(), table, expressions)
	require.NoError(t, err)
	for i, column := range computed {
		want, err := column.Array(t.Context())
		require.NoError(t, err)
		assert.True(t, array.Equal(want, arrays[i]), "%v", expressions[i])
		require.NoError(t, column.Release())
	}
	_, err = expr.EvaluateRecord(t.Context(), record, []expr.Expr{expr.Col("none")})
	require.ErrorIs(t, err, buffer.ErrSchema)
}
