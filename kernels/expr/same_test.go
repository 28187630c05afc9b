package expr_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

func TestSame(t *testing.T) {
	made := func() []expr.Expr {
		a, b := expr.Col("a"), expr.Col("b")
		list := []expr.Expr{
			{}, a, b, expr.Lit(1), expr.Lit(int8(1)), expr.Lit(1.0), expr.Lit("1"), expr.LitOf(arrow.PrimitiveTypes.Int8, 1),
			expr.Lit(0.0), expr.Lit(math.Copysign(0, -1)), expr.Lit(float32(0)), expr.Lit(float32(math.Copysign(0, -1))), expr.Lit(math.NaN()),
			expr.LitOf(arrow.PrimitiveTypes.Float64, 0.0), expr.LitOf(arrow.PrimitiveTypes.Float64, math.Copysign(0, -1)),
			expr.Null(arrow.PrimitiveTypes.Int8), expr.Null(arrow.PrimitiveTypes.Int16),
			a.Add(b), b.Add(a), a.Sub(b), a.Add(expr.Lit(1)), a.Add(expr.Lit(int8(1))), a.As("b"), a.As("c"),
			a.Cast(arrow.PrimitiveTypes.Int8), a.Cast(arrow.PrimitiveTypes.Int16), a.CastWrap(arrow.PrimitiveTypes.Int16),
			expr.Min(a, b), expr.Min(a, b, a), expr.If(a, b, a), expr.Call("exp", a), expr.Call("log", a),
			expr.OfRows(total{1}, a), expr.OfRows(total{2}, a), expr.OfRows(total{1}, b), expr.OfRows(total{1}, a, b), expr.OfRows(total{1}, a).Add(a),
		}
		// Shared parts of exponential size.
		shared := a
		for range 60 {
			shared = shared.Mul(shared)
		}
		return append(list, shared)
	}
	for i, x := range made() {
		for j, y := range made() {
			assert.Equal(t, i == j, x.Same(y), "%v and %v", x, y)
			if i == j {
				assert.Equal(t, x.Fingerprint(), y.Fingerprint(), "%v", x)
			}
		}
	}
}
