package exprtest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

func Example() {
	// In a test of an evaluator of expressions:
	check := func(t *testing.T) {
		property.Check(t, func(t *rapid.T) {
			c := exprtest.Draw(t, exprtest.Options{})
			defer c.Release()
			got, err := hosteval.Evaluate(context.Background(), c.Program, c.Inputs(), c.Rows)
			require.NoError(t, err)
			for i, want := range exprtest.Model(c.Program, c.Inputs(), c.Rows) {
				exprtest.CompareModel(t, want, got[i], 0)
				got[i].Release()
			}
		})
	}
	_ = check
	// Output:
}
