package sketch

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// requireOrdered refuses values of a type that KLL sketches do not have.
func requireOrdered(t arrow.DataType) error {
	switch id := t.ID(); {
	case id == arrow.FLOAT32, id == arrow.FLOAT64, id == arrow.DECIMAL128, arrow.IsInteger(id), isTime(t), isText(t):
		return nil
	}
	return fmt.Errorf("values of %v, expected numbers, decimals, times or strings: %w", render.TypeName(t), expr.ErrType)
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
