package text

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
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
	operand := operands[0]
	call, err := op.Begin(ctx, options, operand)
	if err != nil {
		return nil, err
	}
	if operand.Len() == 0 {
		return empty(&call, operand, arrow.BinaryTypes.String)
	}
	n, err := nullsOf(&call, operand)
	if err != nil {
		return nil, err
	}
	m, err := newMaker(n, arrow.BinaryTypes.String)
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(operand)
	if err != nil {
		return nil, err
	}
	width := values.Len() / operand.Len()
	if call.OnHost() {
		bytes, err := values.Host()
		if err != nil {
			return nil, err
		}
		return m.onHost(&call, func(to []byte, _, row int) ([]byte, bool) {
			if width == 4 {
				return appendFloat32(to, math.Float32frombits(op.Elements[uint32](bytes)[row])), true
			}
			return strconv.AppendFloat(to, math.Float64frombits(op.Elements[uint64](bytes)[row]), 'g', -1, 64), true
		})
	}
	powers := textparse.PowersOfFive()
	block, scratch, err := call.Scratch(uint64(len(powers)))
	if err != nil {
		return nil, err
	}
	if err := scratch[0].Upload(call.Context(), call.Stream, powers); err != nil {
		return nil, errors.Join(err, block.Release())
	}
	l := floatsLayout{
		values: values, valid: n.valid, bit: uint64(n.bit), counted: n.counted, rows: int64(n.rows), capacity: uint64(operand.Len()),
		width: uint32(width), powers: scratch[0],
	}
	floats := l.asArgument()
	none, noEnds := memory.Slice[uint8]{}, memory.Slice[int64]{}
	formatted, err := m.onDevice(&call, func(lengths memory.Slice[uint8]) error {
		return launchRows(&call, "floats", "format_floats", operand.Len(), none, noEnds, lengths, floats)
	}, func(to memory.Slice[uint8], ends memory.Slice[int64]) error {
		return launchRows(&call, "floats", "format_floats", operand.Len(), to, ends, none, floats)
	})
	return release.OnError(formatted, err, block.Release())
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
