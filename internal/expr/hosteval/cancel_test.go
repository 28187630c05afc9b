package hosteval_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// endsAfter is a context that ends after the given number of checks.
type endsAfter struct {
	context.Context
	looks int
}

func (c *endsAfter) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestLoopsLookAtTheContext ends the context while a loop runs, at each check.
func TestLoopsLookAtTheContext(t *testing.T) {
	const rows = 100_000
	i64, boolean := arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Boolean
	for _, c := range []struct {
		of arrow.DataType
		e  expr.Expr
	}{
		{i64, a.Neg()}, {i64, a.Add(a)}, {i64, a.Lt(a)}, {i64, a.Div(a)}, {boolean, a.And(a)}, {boolean, a.IsNull()}, {i64, a.Eq(expr.Lit(1))},
	} {
		program := exprtest.Program(t, arrow.NewSchema([]arrow.Field{{Name: "a", Type: c.of}}, nil), c.e)
		inputs := []arrow.Array{exprtest.NewValues(1).Array(c.of, rows)}
		ended := 0
		for looks := 0; ; looks++ {
			got, err := hosteval.Evaluate(&endsAfter{context.Background(), looks}, program, inputs, rows)
			if err == nil {
				got[0].Release()
				break
			}
			ended++
			require.ErrorIs(t, err, context.Canceled, "%v", c.e)
		}
		require.Greater(t, ended, 10, "%v", c.e)
	}
}
