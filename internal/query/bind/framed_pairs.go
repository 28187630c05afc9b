package bind

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// framedPairs computes covariances and correlations in frames from variances, which have frames: four times the
// covariance of x and y is the variance of their sum minus that of their difference. Both are first made alike: minus the
// mean and divided by the standard deviation of the partition. Otherwise the sum and the difference of a large and a small
// value are equal but for the rounding.
func framedPairs(e expr.Expr, keys plan.WindowKeys) expr.Expr {
	return e.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		f, ok := rowsFunctionOf(part)
		if !ok || f.windowed {
			return part, ok || !part.ReadsRows()
		}
		switch f.Aggregation.Function {
		case "covariance", "correlation":
			return f.ofVariances(keys), true
		}
		return part, true
	})
}

// ofVariances is a covariance or a correlation as an expression of variances.
func (f RowsFunction) ofVariances(keys plan.WindowKeys) expr.Expr {
	x, xScale := normalized(f.Aggregation.Values[0], f.Aggregation.Values[1], keys)
	y, yScale := normalized(f.Aggregation.Values[1], f.Aggregation.Values[0], keys)
	variance := func(value expr.Expr) expr.Expr {
		spread := f
		spread.Aggregation = plan.Aggregation{Function: "variance", Count: 1, Values: []expr.Expr{value}, Where: f.Aggregation.Where, Frame: f.Aggregation.Frame}
		return spread.Tree()
	}
	xVariance, yVariance := variance(x), variance(y)
	deviations := xVariance.Mul(yVariance).Sqrt()
	covariance := variance(x.Add(y)).Sub(variance(x.Sub(y))).Div(expr.Lit(4.0))
	covariance = expr.If(deviations.Eq(expr.Lit(0.0)), expr.Lit(0.0), covariance)
	isLost := xVariance.Add(yVariance).Gt(deviations.Mul(expr.Lit(mostRatio))).And(deviations.Gt(expr.Lit(0.0)))
	covariance = expr.If(isLost, expr.Lit(math.NaN()), covariance)
	if f.Aggregation.Function == "covariance" {
		return covariance.Mul(xScale).Mul(yScale)
	}
	correlation := covariance.Div(deviations)
	size := correlation.Abs()
	isRounded := size.Gt(expr.Lit(1.0)).And(size.Le(expr.Lit(2.0)))
	return expr.If(isRounded, correlation.Div(size), correlation)
}

// mostRatio is the largest ratio of the deviations in a frame, in those of the partition, with which a difference of
// variances has digits: six. With a larger one the result is NaN.
const mostRatio = 1e10

// normalized returns a value minus the mean and divided by the scale, the standard deviation, of the rows of its partition
// in which another value is valid, too. In other rows it is null.
func normalized(value, other expr.Expr, keys plan.WindowKeys) (result, scale expr.Expr) {
	value = value.Cast(arrow.PrimitiveTypes.Float64)
	value = expr.If(other.IsValid(), value, expr.Null(arrow.PrimitiveTypes.Float64))
	mean, deviation := ofPartition("mean", value, keys), ofPartition("variance", value, keys).Sqrt()
	center := expr.If(isFinite(mean), mean, expr.Lit(0.0))
	scale = expr.If(isFinite(deviation).And(deviation.Gt(expr.Lit(0.0))), deviation, expr.Lit(1.0))
	return value.Sub(center).Div(scale), scale
}

func isFinite(value expr.Expr) expr.Expr { return value.Abs().Le(expr.Lit(math.MaxFloat64)) }

// ofPartition is an aggregate of all rows of the partition.
func ofPartition(function string, value expr.Expr, keys plan.WindowKeys) expr.Expr {
	keys.Order = nil
	return RowsFunction{Aggregation: plan.Aggregation{Function: function, Count: 1, Values: []expr.Expr{value}}, windowed: true, keys: keys}.Tree()
}
