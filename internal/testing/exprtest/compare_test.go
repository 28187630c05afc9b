package exprtest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/function"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
)

// failures notes what a comparison finds.
type failures struct{ found []string }

func (*failures) Helper() {}

func (f *failures) Fatalf(format string, args ...any) {
	f.found = append(f.found, fmt.Sprintf(format, args...))
}

func TestCompareSeesDifferences(t *testing.T) {
	of := func(dataType arrow.DataType, json string) arrow.Array {
		made, _, err := array.FromJSON(arrowmemory.DefaultAllocator, dataType, strings.NewReader(json))
		require.NoError(t, err)
		return made
	}
	i8, f64 := arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float64
	cases := []struct {
		want, got arrow.Array
		says      string
	}{
		{of(i8, "[1, null]"), of(i8, "[1, null]"), ""},
		{of(i8, "[1, null]"), of(i8, "[2, null]"), "row 0 of 2, int8: want 1, got 2"},
		{of(i8, "[1, null]"), of(i8, "[1, 0]"), "want null, got 0"},
		{of(i8, "[1, 0]"), of(i8, "[1, null]"), "want 0, got null"},
		{of(i8, "[1]"), of(i8, "[1, 1]"), "want 1 of int8, got 2 of int8"},
		{of(i8, "[1]"), of(f64, "[1]"), "want 1 of int8, got 1 of float64"},
		{of(f64, "[1]"), of(f64, "[1.0000000000000002]"), "got 1.0000000000000002"},
		{of(f64, "[0]"), of(f64, "[-0.0]"), "got -0"},
	}
	for _, c := range cases {
		var f failures
		exprtest.Compare(&f, c.want, c.got, 0)
		if c.says == "" {
			require.Empty(t, f.found)
			continue
		}
		require.NotEmpty(t, f.found)
		require.Contains(t, f.found[0], c.says)
	}
}

func TestTolerance(t *testing.T) {
	next := math.Nextafter
	require.True(t, exprtest.Same(1.0, next(1, 2), exprtree.Float64, 1))
	require.False(t, exprtest.Same(1.0, next(next(1, 2), 2), exprtree.Float64, 1))
	require.True(t, exprtest.Same(0.0, math.Copysign(0, -1), exprtree.Float64, 1))
	require.False(t, exprtest.Same(0.0, math.Copysign(0, -1), exprtree.Float64, 0))
	require.True(t, exprtest.Same(next(0, 1), next(0, -1), exprtree.Float64, 3))
	require.True(t, exprtest.Same(math.NaN(), -math.NaN(), exprtree.Float64, 0))
	require.False(t, exprtest.Same(math.NaN(), 1.0, exprtree.Float64, 1000))
	require.False(t, exprtest.Same(nil, 1.0, exprtree.Float64, 1000))
	require.True(t, exprtest.Same(math.MaxFloat64, math.Inf(1), exprtree.Float64, 1))
	require.False(t, exprtest.Same(-1.0, 1.0, exprtree.Float64, 1<<61))
	single := float64(math.Nextafter32(1, 2))
	require.True(t, exprtest.Same(1.0, single, exprtree.Float32, 1))
	require.False(t, exprtest.Same(1.0, single, exprtree.Float32, 0))
}

// TestEveryOperationIsDrawn checks that the generator omits no operation. The cases are the same
// in every run, and with every seed of the environment.
func TestEveryOperationIsDrawn(t *testing.T) {
	drawn := map[exprtree.Op]bool{exprtree.TextPlace: true} // codegen makes it
	cases := rapid.Custom(func(t *rapid.T) *exprtest.Case { return exprtest.Draw(t, exprtest.Options{Strings: true}) })
	for seed := 0; seed < 20_000 && len(drawn) < int(exprtree.Ops)-1+function.Count(); seed++ {
		c := cases.Example(seed)
		for _, n := range c.Program.Nodes {
			drawn[n.Op] = true
		}
		c.Release()
	}
	for op := exprtree.Column; op < exprtree.Ops; op++ {
		require.True(t, drawn[op], "%v", op)
	}
	for i := range function.Count() {
		require.True(t, drawn[exprtree.FirstFunction+exprtree.Op(i)], function.At(i).Name)
	}
}
