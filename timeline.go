package gpuframe

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// interpolatedBy is [Expr.InterpolateBy].
func (e Expr) interpolatedBy(at Expr) Expr {
	// The distance from the least place of all rows keeps more digits of a time than the time itself.
	// If its type does not hold it, it is null or has wrapped around to a negative number; the
	// difference of two floats is as good then.
	least := at.Min().Over(By())
	distance := unary(at.Sub(least), window.Real)
	return e.interpolated(Coalesce(If(distance.Ge(0), distance, LitOf(arrow.PrimitiveTypes.Float64, nil)), unary(at, window.Real).Sub(unary(least, window.Real))))
}

// interpolated interpolates by places that are floats.
func (e Expr) interpolated(x Expr) Expr {
	float := arrow.PrimitiveTypes.Float64
	known := If(e.IsValid(), x, LitOf(float, nil))
	x0, x1 := known.FillForward().inheriting(), known.FillBackward().inheriting()
	y0, y1 := e.FillForward().Cast(float), e.FillBackward().Cast(float)
	part := x.Sub(x0).Div(x1.Sub(x0))
	return Coalesce(e.Cast(float), y0.Add(y1.Sub(y0).Mul(part)))
}

// session is [Expr.Session].
func (e Expr) session(gap any) Expr {
	begins := apply(func(list []expr.Expr) expr.Expr { return list[0].Exceeds(list[1], list[2]) }, e, e.Lag(1), operand(gap)).FillNull(true)
	number := If(begins, 1, 0).CumSum().inheriting()
	number.root = e.Name()
	return number
}

// behind gives aggregates the frame of the rows from the current one on.
func (e Expr) behind() Expr { return e.framed(0, LastRow) }

// inheriting gives the functions in the values of windows the window of Over.
func (e Expr) inheriting() Expr {
	return e.eachAggregate(func(f *bind.RowsFunction) { f.Inherits = true })
}
