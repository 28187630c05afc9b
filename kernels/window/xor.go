package window

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
)

// CumulativeXor returns, for each row, the exclusive or of all rows up to it. It
// supports integers. In all other respects it is like [CumulativeSum].
func CumulativeXor(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, &xor, c, options)
}

var xor = fold{
	name: "cumulative xor",
	takes: func(t arrow.DataType) (storage, bool) {
		s, ok := number(t)
		return s, ok && s.class != layout.Float
	},
	expected: "integers",
	kernels:  newInstances("xor", func(s storage) definition { return integers(s, "xor.b", 0) }),
	host: func(s storage, in op.HostView, out op.HostBuffers) {
		switch s.bytes {
		case 1:
			xorIntegers[uint8](in, out)
		case 2:
			xorIntegers[uint16](in, out)
		case 4:
			xorIntegers[uint32](in, out)
		default:
			xorIntegers[uint64](in, out)
		}
	},
}

func xorIntegers[T word](in op.HostView, out op.HostBuffers) {
	values, results := op.Elements[T](in.Values), op.Elements[T](out.Values)
	acc := T(0)
	for row := range in.Rows {
		if in.IsValid(row) {
			acc ^= values[row]
		}
		results[row] = acc
	}
}
