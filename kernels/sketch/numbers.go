package sketch

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// isNumber reports whether values of a type are numbers with an order.
func isNumber(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128:
		return true
	}
	return arrow.IsInteger(t.ID())
}

// numberOf returns a function that returns a number as float64.
func numberOf(values arrow.Array) func(i int) float64 {
	switch a := values.(type) {
	case *array.Float32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		return a.Value
	case *array.Uint64:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(i int) float64 { return a.Value(i).ToFloat64(scale) }
	}
	return func(i int) float64 { return float64(integerOf(values, i)) }
}
