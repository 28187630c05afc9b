package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

func (e *evaluation) castDecimal(n *exprtree.Node) arrow.Array {
	x := laneOf[decimal128.Num](e, n.Arguments[0])
	scale := scaleOf(n.Arguments[0].Type)
	switch n.Kind() {
	case exprtree.Decimal:
		return converted(e, n, x, func(v decimal128.Num) (decimal128.Num, bool) {
			m, negative := magnitudeOf(v)
			m, ok := rescaled(m, scale, scaleOf(n.Type))
			return m.signed(negative), ok && m.fits(n.Type)
		})
	case exprtree.Float32:
		return converted(e, n, x, func(v decimal128.Num) (float32, bool) { return float32(toFloat(v, scale)), true })
	case exprtree.Float64:
		return converted(e, n, x, func(v decimal128.Num) (float64, bool) { return toFloat(v, scale), true })
	case exprtree.Int8:
		return converted(e, n, x, wholePart[int8](scale))
	case exprtree.Int16:
		return converted(e, n, x, wholePart[int16](scale))
	case exprtree.Int32:
		return converted(e, n, x, wholePart[int32](scale))
	case exprtree.Int64:
		return converted(e, n, x, wholePart[int64](scale))
	case exprtree.Uint8:
		return converted(e, n, x, wholePart[uint8](scale))
	case exprtree.Uint16:
		return converted(e, n, x, wholePart[uint16](scale))
	case exprtree.Uint32:
		return converted(e, n, x, wholePart[uint32](scale))
	}
	return converted(e, n, x, wholePart[uint64](scale))
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
