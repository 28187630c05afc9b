package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

func (e *evaluation) castDecimal(n *exprtree.Node) arrow.Array {
	scale := scaleOf(n.Arguments[0].Type)
	switch n.Kind() {
	case exprtree.Decimal:
		return e.checkedUnary(n, rescaling(scale, n.Type))
	case exprtree.Float32:
		return e.checkedUnary(n, eachChecked(func(v decimal128.Num) (float32, bool) { return float32(toFloat(v, scale)), true }))
	case exprtree.Float64:
		return e.checkedUnary(n, eachChecked(func(v decimal128.Num) (float64, bool) { return toFloat(v, scale), true }))
	}
	return e.checkedUnary(n, integerKinds[n.Kind()].fromDecimals(scale))
}

// rescaling returns the loop of a cast from a scale to another decimal type.
func rescaling(scale int, to arrow.DataType) checkedUnaryLoop {
	factor := decimal{low: 1}
	if by := scaleOf(to) - scale; by > 0 {
		factor = decimal{powers[by].low, powers[by].high}
	}
	if scaleOf(to) >= scale && factor.isShort() {
		multiply := decimalMultiplication(to)
		return checkedUnary(func(to, x []decimal) uint64 {
			var factors [64]decimal
			for i := range x {
				factors[i] = factor
			}
			return multiply(to, x, factors[:len(x)])
		})
	}
	return eachChecked(func(v decimal128.Num) (decimal128.Num, bool) {
		m, negative := magnitudeOf(v)
		m, ok := rescaled(m, scale, scaleOf(to))
		return m.signed(negative), ok && m.fits(to)
	})
}

// wholePart returns the conversion of a decimal to an integer.
func wholePart[R integer](scale int) func(decimal128.Num) (R, bool) {
	return func(v decimal128.Num) (R, bool) {
		m, negative := magnitudeOf(v)
		m, _ = rescaled(m, scale, 0)
		if m.high != 0 {
			return 0, false
		}
		if !negative {
			return toInteger[uint64, R](m.low)
		}
		if m.low > 1<<63 {
			return 0, false
		}
		return toInteger[int64, R](int64(-m.low))
	}
}

// toInteger converts an integer; ok is false if that changes its value.
func toInteger[T, R integer](v T) (R, bool) {
	r := R(v)
	return r, T(r) == v && (r < 0) == (v < 0)
}
