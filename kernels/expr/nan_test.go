package expr_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// TestComparisonsHaveOneOrder compares all pairs of special floats, of columns and literals, in the
// order of sorts and as IEEE 754 has it.
func TestComparisonsHaveOneOrder(t *testing.T) {
	special := []float64{math.NaN(), math.Copysign(math.NaN(), -1), math.Inf(-1), -1, math.Copysign(0, -1), 0, 1, math.Inf(1)}
	rank := func(x float64) int { // −∞, −1, 0, 1, ∞, NaN
		switch {
		case math.IsNaN(x):
			return 5
		case math.IsInf(x, 0):
			return 2 + int(math.Copysign(2, x))
		}
		return 2 + int(x)
	}
	a, b := expr.Col("a"), expr.Col("b")
	type comparison struct {
		of    func(x, y expr.Expr) expr.Expr
		total func(x, y int) bool
		ieee  func(x, y float64) bool
	}
	comparisons := map[string]comparison{
		"=": {expr.Expr.Eq, func(x, y int) bool { return x == y }, nil}, "≠": {expr.Expr.Ne, func(x, y int) bool { return x != y }, nil},
		"<": {expr.Expr.Lt, func(x, y int) bool { return x < y }, nil}, "≤": {expr.Expr.Le, func(x, y int) bool { return x <= y }, nil},
		">": {expr.Expr.Gt, func(x, y int) bool { return x > y }, nil}, "≥": {expr.Expr.Ge, func(x, y int) bool { return x >= y }, nil},
		"in":     {func(x, y expr.Expr) expr.Expr { return x.In(y, y) }, func(x, y int) bool { return x == y }, nil},
		"IEEE =": {expr.Expr.EqIEEE, nil, func(x, y float64) bool { return x == y }}, "IEEE ≠": {expr.Expr.NeIEEE, nil, func(x, y float64) bool { return x != y }},
		"IEEE <": {expr.Expr.LtIEEE, nil, func(x, y float64) bool { return x < y }}, "IEEE ≤": {expr.Expr.LeIEEE, nil, func(x, y float64) bool { return x <= y }},
		"IEEE >": {expr.Expr.GtIEEE, nil, func(x, y float64) bool { return x > y }}, "IEEE ≥": {expr.Expr.GeIEEE, nil, func(x, y float64) bool { return x >= y }},
	}
	for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		left, right := array.NewBuilder(arrowmemory.DefaultAllocator, of), array.NewBuilder(arrowmemory.DefaultAllocator, of)
		for _, x := range special {
			for _, y := range special {
				for builder, value := range map[array.Builder]float64{left: x, right: y} {
					if f, ok := builder.(*array.Float32Builder); ok {
						f.Append(float32(value))
					} else {
						builder.(*array.Float64Builder).Append(value)
					}
				}
			}
		}
		xs, ys := left.NewArray(), right.NewArray()
		devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
			mgr := devicetest.Manager(t, dev, memory.Options{})
			table := tableOf(t, mgr, xs, ys)
			for name, c := range comparisons {
				check := func(got arrow.Array, i int, x, y float64) {
					want := false
					if c.total != nil {
						want = c.total(rank(x), rank(y))
					} else {
						want = c.ieee(x, y)
					}
					require.Equal(t, want, exprtest.Cell(got, i), "%v %s %v of %v", x, name, y, of)
				}
				got := evaluated(t, table, c.of(a, b))
				for i := range xs.Len() {
					check(got, i, special[i/len(special)], special[i%len(special)])
				}
				got.Release()
				for _, y := range []float64{math.NaN(), 0, math.Inf(1)} {
					got := evaluated(t, table, c.of(a, expr.Lit(y)))
					for i := range xs.Len() {
						check(got, i, special[i/len(special)], y)
					}
					got.Release()
				}
			}
		})
	}
}
