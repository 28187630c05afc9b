package gpuframe

import (
	"fmt"
	"math"
	"math/big"
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

// checkBreaks refuses NaN, and numbers and times that do not ascend. Expressions and values of other types are not compared.
func checkBreaks(breaks []any) error {
	if len(breaks) == 0 {
		return fmt.Errorf("cut without breaks: give the limits between the bins in ascending order")
	}
	for i, b := range breaks {
		v := reflect.ValueOf(b)
		switch _, isBytes := b.([]byte); {
		case !v.IsValid():
			return fmt.Errorf("cut with break nil: give the limits between the bins in ascending order")
		case v.Kind() == reflect.Slice && !isBytes:
			return fmt.Errorf("cut with a break of type %T: give each break as one argument, or a []any followed by …", b)
		case v.CanFloat() && math.IsNaN(v.Float()):
			return fmt.Errorf("cut with a break that is not a number: all values are in or before its bin, leave it out")
		case i == 0:
			continue
		}
		if order, comparable := compareValues(breaks[i-1], b); comparable && order >= 0 {
			return fmt.Errorf("cut with break %v before %v: give the breaks in ascending order, each once", breaks[i-1], b)
		}
	}
	return nil
}

// compareValues compares two Go values if both are numbers or both are times. It compares numbers of different types exactly.
func compareValues(a, b any) (order int, comparable bool) {
	if x, ok := a.(time.Time); ok {
		y, ok := b.(time.Time)
		return x.Compare(y), ok
	}
	if s, t := reflect.TypeOf(a), reflect.TypeOf(b); s != t && (s.PkgPath() != "" || t.PkgPath() != "") {
		return 0, false // units may differ, such as those of a time.Duration and a number
	}
	x, y := exactNumber(a), exactNumber(b)
	if x == nil || y == nil {
		return 0, false
	}
	return x.Cmp(y), true
}

// exactNumber returns an integer or a float other than NaN, or nil for other values.
func exactNumber(value any) *big.Float {
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return new(big.Float).SetInt64(v.Int())
	case v.CanUint():
		return new(big.Float).SetUint64(v.Uint())
	case v.CanFloat() && !math.IsNaN(v.Float()):
		return new(big.Float).SetFloat64(v.Float())
	}
	return nil
}

// quantileCut is [Expr.QCut].
func (e Expr) quantileCut(n int) Expr {
	const most = 1000
	if n < 1 || n > most {
		e.misuse = append(e.misuse, fmt.Errorf("qcut into %d bins, expected 1 to %d", n, most))
		return e
	}
	x, breaks := e.Cast(arrow.PrimitiveTypes.Float64), make([]any, n)
	for i := range n {
		// A quantile between −Inf and another value is NaN, and Greatest skips NaN: −Inf.
		breaks[i] = Greatest(e.Quantile(float64(i+1)/float64(n)), math.Inf(-1))
	}
	last := int64(n - 1)
	binned := Case().When(e.IsNull(), nil).When(x.IsNaN(), last).Else(Least(x.Cut(breaks...), last))
	binned.root = e.Name()
	return binned
}

// rescale is [Expr.Rescale]. Both ends of the range are exact. Halves have a difference that float64 holds.
func (e Expr) rescale(low, high float64) Expr {
	for _, end := range []float64{low, high} {
		if math.IsNaN(end) || math.IsInf(end, 0) {
			e.misuse = append(e.misuse, fmt.Errorf("rescale from %v to %v, expected two finite numbers", low, high))
			return e
		}
	}
	x := e.Cast(arrow.PrimitiveTypes.Float64)
	least, greatest := x.Min(), x.Max()
	begin := least.Mul(0.5)
	extent := greatest.Mul(0.5).Sub(begin)
	share := x.Mul(0.5).Sub(begin).Div(extent)
	rescaled := Case().When(e.Sign().IsNull(), nil).When(x.IsNaN(), math.NaN()).When(x.Eq(least), low).When(x.Eq(greatest), high).
		When(extent.Eq(math.Inf(1)), math.NaN()).Else(Lit(low).Mul(Lit(1.0).Sub(share)).Add(share.Mul(high)))
	rescaled.root = e.Name()
	return rescaled
}
