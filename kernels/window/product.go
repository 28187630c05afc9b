package window

import (
	"context"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
)

// CumulativeProduct returns, for each row, the product of all rows up to it. It
// supports integers and floats. In all other respects it is like [CumulativeSum].
func CumulativeProduct(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, &product, c, options)
}

var product = fold{
	name:     "cumulative product",
	takes:    number,
	expected: "integers or floats",
	kernels: newInstances("product", func(s storage) definition {
		if s.class == layout.Float {
			return roundedFloats(s, "mul.rn.f64", 1)
		}
		return integers(s, "mul.lo.u", 1)
	}),
	host: func(s storage, in op.HostView, out op.HostBuffers) {
		switch {
		case s.class == layout.Float:
			tiled(multiplying{}, shapeOf(s), s, in, out)
		case s.bytes == 1:
			multiplyIntegers[uint8](in, out)
		case s.bytes == 2:
			multiplyIntegers[uint16](in, out)
		case s.bytes == 4:
			multiplyIntegers[uint32](in, out)
		default:
			multiplyIntegers[uint64](in, out)
		}
	},
}

func multiplyIntegers[T word](in op.HostView, out op.HostBuffers) {
	values, results := op.Elements[T](in.Values), op.Elements[T](out.Values)
	acc := T(1)
	for row := range in.Rows {
		if in.IsValid(row) {
			acc *= values[row]
		}
		results[row] = acc
	}
}
