package gpuframe

import (
	"cmp"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
)

// cut is [Expr.Cut] and [Expr.CutLeft]: isIn reports whether a value is in or before the bin that ends at a break.
func (e Expr) cut(breaks []any, isIn func(e Expr, x any) Expr) Expr {
	if err := checkBreaks(breaks); err != nil {
		e.misuse = append(e.misuse, err)
		return e
	}
	bins := Case().When(e.IsNull(), nil)
	for i, b := range breaks {
		bins = bins.When(isIn(e, b), int64(i))
	}
	binned := bins.Else(int64(len(breaks)))
	binned.root = e.Name()
	return binned
}

// checkBreaks refuses numbers and times that do not ascend. Expressions and values of other types are not compared.
func checkBreaks(breaks []any) error {
	if len(breaks) == 0 {
		return fmt.Errorf("cut without breaks: give the limits between the bins in ascending order")
	}
	for i, b := range breaks[1:] {
		if order, comparable := compareValues(breaks[i], b); comparable && order >= 0 {
			return fmt.Errorf("cut with break %v before %v: give the breaks in ascending order, each once", breaks[i], b)
		}
	}
	return nil
}

// compareValues compares two Go values if both are numbers or both are times.
func compareValues(a, b any) (order int, comparable bool) {
	if x, ok := a.(time.Time); ok {
		y, ok := b.(time.Time)
		return x.Compare(y), ok
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.IsValid() && y.IsValid() && x.CanInt() && y.CanInt():
		return cmp.Compare(x.Int(), y.Int()), true
	case x.IsValid() && y.IsValid() && x.CanFloat() && y.CanFloat():
		return cmp.Compare(x.Float(), y.Float()), true
	}
	return 0, false
}

// quantileCut is [Expr.QCut].
func (e Expr) quantileCut(n int) Expr {
	const most = 1000
	if n < 1 || n > most {
		e.misuse = append(e.misuse, fmt.Errorf("qcut into %d bins, expected 1 to %d", n, most))
		return e
	}
	breaks := make([]any, n)
	for i := range n {
		breaks[i] = e.Quantile(float64(i+1) / float64(n))
	}
	binned := Least(e.Cast(arrow.PrimitiveTypes.Float64).Cut(breaks...), int64(n-1)) // NaN is in the last bin
	binned = If(e.IsValid(), binned, nil)
	binned.root = e.Name()
	return binned
}

// rescale is [Expr.Rescale]. Both ends of the range are exact.
func (e Expr) rescale(low, high float64) Expr {
	x := e.Cast(arrow.PrimitiveTypes.Float64)
	least, greatest := x.Min(), x.Max()
	share := x.Sub(least).Div(greatest.Sub(least))
	scaled := Lit(low).Mul(Lit(1.0).Sub(share)).Add(share.Mul(high))
	rescaled := Case().When(e.Sign().IsNull(), nil).When(greatest.Eq(least).And(x.IsNaN().Not()), low).Else(scaled)
	rescaled.root = e.Name()
	return rescaled
}
