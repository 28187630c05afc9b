package vector

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Literal is a vector that all rows have, as a list of float64 of a fixed size.
func Literal(values []float64) expr.Expr {
	packed := make([]byte, 0, 8*len(values))
	for _, v := range values {
		packed = binary.NativeEndian.AppendUint64(packed, math.Float64bits(v))
	}
	return expr.Apply(literal{string(packed)}, expr.LitOf(arrow.PrimitiveTypes.Uint32, 0))
}

// literal is a vector, as the bytes of its elements: expressions compare operators. Its operand is zeros.
type literal struct{ packed string }

func literalOf(e expr.Expr) (literal, bool) {
	o, _ := e.Operator()
	l, ok := o.(literal)
	return l, ok
}

func (l literal) dim() int { return len(l.packed) / 8 }

func (l literal) values() []float64 {
	values := make([]float64, l.dim())
	for i := range values {
		values[i] = math.Float64frombits(binary.NativeEndian.Uint64([]byte(l.packed[8*i : 8*i+8])))
	}
	return values
}

func (l literal) Name() string { return fmt.Sprintf("vector[%d]", l.dim()) }

func (l literal) Result([]arrow.DataType) (arrow.DataType, error) {
	if l.packed == "" {
		return nil, fmt.Errorf("a vector has no elements, expected one or more: %w", expr.ErrLiteral)
	}
	return l.dataType(), nil
}

func (l literal) dataType() arrow.DataType {
	return arrow.FixedSizeListOfField(int32(l.dim()), arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Float64, Nullable: true})
}

// Run takes the vector as often as there are rows.
func (l literal) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	values, err := column.FromSlice(ctx, call.Manager, l.values(), column.SliceOptions{Stream: call.Stream, Tag: op.ScratchTag})
	if err != nil {
		return nil, err
	}
	whole, err := column.New(column.Data{Type: l.dataType(), Length: 1, Manager: call.Manager, Buffers: make([]column.Bytes, 1), Children: []*column.Column{values}})
	if err = errors.Join(err, values.Release()); err != nil {
		return nil, err
	}
	taken, err := selection.TakeColumnWith(ctx, whole, operands[0], selection.TakeOptions{
		Options: kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: call.Tag}, Bounds: selection.Trust,
	})
	return release.OnError(taken, err, whole.Release())
}

// lists returns the vector as lists of one row. The caller releases the block. Its elements are float32 if these have the
// same values: most vectors have such elements, and then none has to be converted.
func (l literal) lists(call *op.Call) (lists, error) {
	values := l.values()
	constant := lists{size: len(values), extent: len(values), number: float4, constant: true}
	for _, v := range values {
		if float64(float32(v)) != v && v == v {
			constant.number = float8
		}
	}
	width := 4
	if constant.number == float8 {
		width = 8
	}
	bytes := make([]byte, 0, width*len(values))
	for _, v := range values {
		if width == 4 {
			bytes = binary.NativeEndian.AppendUint32(bytes, math.Float32bits(float32(v)))
		} else {
			bytes = binary.NativeEndian.AppendUint64(bytes, math.Float64bits(v))
		}
	}
	block, slices, err := call.Scratch(uint64(len(bytes)))
	if err != nil {
		return constant, err
	}
	constant.block, constant.values = block, slices[0]
	if err := constant.values.Upload(call.Context(), call.Stream, bytes); err != nil {
		return constant, errors.Join(err, block.Release())
	}
	if call.OnHost() {
		if err := call.WaitIdle(call.Context()); err != nil {
			return constant, errors.Join(err, block.Release())
		}
	}
	return constant, nil
}
