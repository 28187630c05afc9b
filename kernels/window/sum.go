package window

import (
	"context"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// CumulativeSum returns, for each row, the sum of all rows up to it. It supports
// integers, floats, 128-bit decimals, durations and intervals of months; for other
// types the error wraps device.ErrNotSupported. The result has the type of the input.
// ctx limits the wait on the host device, which is the only wait.
func CumulativeSum(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, &sum, c, options)
}

var sum = fold{
	name: "cumulative sum",
	takes: func(t arrow.DataType) (storage, bool) {
		switch t.ID() {
		case arrow.DURATION, arrow.INTERVAL_MONTHS:
			return temporal(t)
		case arrow.DECIMAL128:
			return decimalStorage, true
		}
		return number(t)
	},
	expected: "numbers, 128-bit decimals, durations or months",
	kernels: newInstances("sum", func(s storage) definition {
		switch {
		case s.class == layout.Float:
			return roundedFloats(s, "add.rn.f64", math.Copysign(0, -1)) // 0 would turn −0 into 0
		case s.bytes == 16:
			return definition{none: []ptx.Register{"0", "0"}, fold: addDecimals}
		}
		return integers(s, "add.u", 0)
	}),
	host: func(s storage, in op.HostView, out op.HostBuffers) {
		switch {
		case s.class == layout.Float:
			tiled(adding{}, shapeOf(s), s, in, out)
		case s.bytes == 1:
			sumIntegers[uint8](in, out)
		case s.bytes == 2:
			sumIntegers[uint16](in, out)
		case s.bytes == 4:
			sumIntegers[uint32](in, out)
		case s.bytes == 8:
			sumIntegers[uint64](in, out)
		default:
			sumDecimals(in, out)
		}
	},
}

// addDecimals adds two integers of 128 bits.
func addDecimals(b *ptx.Builder, results, arguments []ptx.Register) {
	b.Move("add.cc.u64", results[0], arguments[0], arguments[2])
	b.Move("addc.u64", results[1], arguments[1], arguments[3])
}

func sumIntegers[T word](in op.HostView, out op.HostBuffers) {
	values, results := op.Elements[T](in.Values), op.Elements[T](out.Values)
	acc := T(0)
	for row := range in.Rows {
		if in.IsValid(row) {
			acc += values[row]
		}
		results[row] = acc
	}
}

func sumDecimals(in op.HostView, out op.HostBuffers) {
	values, results := op.Elements[decimal](in.Values), op.Elements[decimal](out.Values)
	acc := decimal{}
	for row := range in.Rows {
		if in.IsValid(row) {
			acc = addDecimal(acc, values[row])
		}
		results[row] = acc
	}
}
