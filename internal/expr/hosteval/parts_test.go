package hosteval_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// TestPartsAreTheWhole compares parts with the evaluation of all rows at once, for inputs
// that begin inside a byte.
func TestPartsAreTheWhole(t *testing.T) {
	const rows, skipped = 40_003, 3
	for _, of := range computed() {
		values := exprtest.NewValues(11)
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: of, Nullable: true}, {Name: "b", Type: of, Nullable: true}}, nil)
		program := exprtest.Program(t, schema, a.Eq(b), expr.Coalesce(a, b))
		inputs := []arrow.Array{
			array.NewSlice(values.Array(of, rows+skipped), skipped, rows+skipped),
			array.NewSlice(values.Array(of, rows+1), 1, rows+1),
		}
		whole, err := hosteval.Evaluate(t.Context(), program, inputs, rows)
		require.NoError(t, err, of)
		parts, err := hosteval.EvaluateParts(t.Context(), program, inputs, rows)
		require.NoError(t, err, of)
		require.Len(t, parts, len(whole))
		for i := range whole {
			row := int64(0)
			for _, part := range parts[i] {
				want := array.NewSlice(whole[i], row, row+int64(part.Len()))
				require.True(t, array.ApproxEqual(want, part, array.WithNaNsEqual(true), array.WithAbsTolerance(0)), "output %d of %v, from row %d on", i, of, row)
				row += int64(part.Len())
			}
			require.EqualValues(t, rows, row)
		}
		hosteval.ReleaseParts(parts)
	}
}

func TestPartsEndWithTheContext(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
	program := exprtest.Program(t, schema, a.Add(expr.Lit(1)))
	_, err := hosteval.EvaluateParts(ctx, program, []arrow.Array{exprtest.NewValues(1).Array(arrow.PrimitiveTypes.Int64, 100_000)}, 100_000)
	require.ErrorIs(t, err, context.Canceled)
}
