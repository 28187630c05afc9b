package text

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/textparse"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// FormatFloat is a float32 or float64 as the shortest text that is read as the same number,
// as strconv.FormatFloat(x, 'g', -1, bits) has it: 0.1, 1e+06, NaN, -Inf. Of two texts at the same
// distance it is the one with the even digit.
func FormatFloat(e expr.Expr) expr.Expr { return expr.Apply(formatFloat{}, e) }

type formatFloat struct{}

// Name implements expr.Operator.
func (formatFloat) Name() string { return "format_float" }

// Result implements expr.Operator.
func (formatFloat) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if id := layout.Storage(operands[0]).ID(); id != arrow.FLOAT32 && id != arrow.FLOAT64 {
		return nil, fmt.Errorf("%v is no float32 or float64: %w", operands[0], expr.ErrType)
	}
	return arrow.BinaryTypes.String, nil
}

// Run implements expr.Operator.
func (formatFloat) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	t := layout.Storage(operands[0].Type()).(arrow.FixedWidthDataType)
	width := t.BitWidth() / 8
	formatting := formatting{
		file: "floats", kernel: "format_floats", table: textparse.PowersOfFive(),
		arguments: func(in nulls, values column.Bytes, table memory.Slice[uint8]) []any {
			l := floatsLayout{
				values: values, valid: in.valid, bit: uint64(in.bit), counted: in.counted, rows: int64(in.rows), capacity: uint64(in.column.Len()),
				width: uint32(width), powers: table,
			}
			return []any{l.asArgument()}
		},
		host: func(to, values []byte, row int) ([]byte, bool) {
			if width == 4 {
				return appendFloat32(to, math.Float32frombits(op.Elements[uint32](values)[row])), true
			}
			return strconv.AppendFloat(to, math.Float64frombits(op.Elements[uint64](values)[row]), 'g', -1, 64), true
		},
	}
	return formatting.run(ctx, operands[0], options)
}

// appendFloat32 appends the text of a float32. 2^-12 is 0.000244140625, halfway between two
// shortest texts. strconv of Go 1.26 rounds it up, unlike all other numbers in that place and
// unlike earlier versions, which round to the even digit.
func appendFloat32(to []byte, x float32) []byte {
	switch x {
	case 0x1p-12:
		return append(to, "0.00024414062"...)
	case -0x1p-12:
		return append(to, "-0.00024414062"...)
	}
	return strconv.AppendFloat(to, float64(x), 'g', -1, 32)
}
