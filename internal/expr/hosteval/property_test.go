package hosteval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// TestRandomExpressions checks every output against the model, which shares no code
// with the evaluation.
func TestRandomExpressions(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		c := exprtest.Draw(t, exprtest.Options{Exact: true, Strings: true})
		defer c.Release()
		got, err := hosteval.Evaluate(context.Background(), c.Program, c.Inputs(), c.Rows)
		require.NoError(t, err)
		want := exprtest.Model(c.Program, c.Inputs(), c.Rows)
		for i, output := range c.Program.Outputs {
			t.Log(c.Expressions[i])
			require.Equal(t, output.Type, got[i].DataType())
			exprtest.CompareModel(t, want[i], got[i], 0)
			got[i].Release()
		}
	})
}
