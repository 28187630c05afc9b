package expr

import (
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// maximumPrecision is how many digits a decimal128 holds.
const maximumPrecision = 38

func badDecimal(t *arrow.Decimal128Type) bool {
	return t.Precision < 1 || t.Precision > maximumPrecision || t.Scale < 0 || t.Scale > maximumPrecision
}

func decimalOf(precision, scale int32) *arrow.Decimal128Type {
	return &arrow.Decimal128Type{Precision: min(precision, maximumPrecision), Scale: scale}
}

// asDecimal returns the decimal type that holds all values of a decimal or integer
// type.
func asDecimal(t arrow.DataType) (*arrow.Decimal128Type, bool) {
	if d, ok := t.(*arrow.Decimal128Type); ok {
		return d, !badDecimal(d)
	}
	kind := exprtree.KindOf(t)
	if !kind.IsInteger() || exprtree.IsTemporal(t) {
		return nil, false
	}
	digits := map[int]int32{8: 3, 16: 5, 32: 10, 64: 19}[kind.Bits()]
	if kind == exprtree.Uint64 {
		digits = 20
	}
	return decimalOf(digits, 0), true
}

// commonDecimal returns the decimal that holds the digits of all types before and after
// the point, with at most 38 digits. If one of the types is a float it returns a float.
func commonDecimal(types []arrow.DataType) (arrow.DataType, bool) {
	for _, t := range types {
		if kind := exprtree.KindOf(t); kind.IsFloat() {
			return floatOf(types)
		}
	}
	var ahead, scale int32
	for _, t := range types {
		d, ok := asDecimal(t)
		if !ok {
			return nil, false
		}
		ahead, scale = max(ahead, d.Precision-d.Scale), max(scale, d.Scale)
	}
	return decimalOf(max(ahead+scale, 1), scale), true
}

// decimalOfFloat returns the shortest decimal type that holds the number as it is written with
// the fewest digits.
func decimalOfFloat(value float64) (*arrow.Decimal128Type, bool) {
	text := strings.TrimPrefix(strconv.FormatFloat(value, 'f', -1, 64), "-")
	ahead, fraction, _ := strings.Cut(text, ".")
	ahead = strings.TrimLeft(ahead, "0")
	d := &arrow.Decimal128Type{Precision: max(int32(len(ahead)+len(fraction)), 1), Scale: int32(len(fraction))}
	if badDecimal(d) {
		return nil, false
	}
	_, fits := convertDecimal(value, d)
	return d, fits
}

// floatOf is the widest float among the types, which may otherwise be integers and
// decimals.
func floatOf(types []arrow.DataType) (arrow.DataType, bool) {
	float := arrow.PrimitiveTypes.Float32
	for _, t := range types {
		kind := exprtree.KindOf(t)
		if d, ok := t.(*arrow.Decimal128Type); ok && badDecimal(d) || exprtree.IsTemporal(t) || kind != exprtree.Decimal && !kind.IsNumber() {
			return nil, false
		}
		if kind == exprtree.Float64 {
			float = arrow.PrimitiveTypes.Float64
		}
	}
	return float, true
}
