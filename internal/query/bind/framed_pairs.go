package bind

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// framedPairs computes covariances and correlations in frames from variances, which have frames: four times the
// covariance of x and y is the variance of their sum minus that of their difference.
func framedPairs(e expr.Expr) expr.Expr {
	return e.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		f, ok := rowsFunctionOf(part)
		if !ok || f.windowed {
			return part, ok || !part.ReadsRows()
		}
		switch f.Aggregation.Function {
		case "covariance", "correlation":
			return f.ofVariances(), true
		}
		return part, true
	})
}

// ofVariances is a covariance or a correlation as an expression of variances.
func (f RowsFunction) ofVariances() expr.Expr {
	x, y := f.Aggregation.Values[0].Cast(arrow.PrimitiveTypes.Float64), f.Aggregation.Values[1].Cast(arrow.PrimitiveTypes.Float64)
	variance := func(value expr.Expr) expr.Expr {
		spread := f
		spread.Aggregation = plan.Aggregation{Function: "variance", Count: 1, Values: []expr.Expr{value}, Where: f.Aggregation.Where, Frame: f.Aggregation.Frame}
		return spread.Tree()
	}
	covariance := variance(x.Add(y)).Sub(variance(x.Sub(y))).Div(expr.Lit(4.0))
	if f.Aggregation.Function == "covariance" {
		return covariance
	}
	both := x.Add(y).IsValid()
	product := variance(expr.If(both, x, expr.Null(arrow.PrimitiveTypes.Float64))).Mul(variance(expr.If(both, y, expr.Null(arrow.PrimitiveTypes.Float64))))
	return covariance.Div(product.Sqrt())
}
