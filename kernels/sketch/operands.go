package sketch

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op/hostrows"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// elementsOf returns the type of the elements of a list.
func elementsOf(t arrow.DataType) (arrow.DataType, error) {
	switch list := t.(type) {
	case *arrow.ListType:
		return list.Elem(), nil
	case *arrow.LargeListType:
		return list.Elem(), nil
	}
	return nil, fmt.Errorf("of %v, expected a list: %w", render.TypeName(t), expr.ErrType)
}

// requireSketch refuses values of other types than sketches have.
func requireSketch(t arrow.DataType) error {
	if t.ID() != arrow.BINARY && t.ID() != arrow.LARGE_BINARY {
		return fmt.Errorf("values of %v, expected sketches, which are binary: %w", render.TypeName(t), expr.ErrType)
	}
	return nil
}

// mergedType is the type of the sketch of all values of a list of sketches.
func mergedType(operands []arrow.DataType) (arrow.DataType, error) {
	elements, err := elementsOf(operands[0])
	if err == nil {
		err = requireSketch(elements)
	}
	return arrow.BinaryTypes.Binary, err
}

// sketching makes a sketch of the values of each list.
type sketching[S any] struct {
	empty func() S
	add   func(values arrow.Array) func(sketch S, i int) // the function of one goroutine
	bytes func(S) []byte
}

func (o sketching[S]) run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return hostrows.Run(ctx, operands, arrow.BinaryTypes.Binary, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		list := operands[0].(array.ListLike)
		values := list.ListValues()
		add := o.add(values)
		return func(row int, to array.Builder) {
			sketch := o.empty()
			eachValid(list, row, func(i int) { add(sketch, i) })
			to.(*array.BinaryBuilder).Append(o.bytes(sketch))
		}, nil
	})
}

// eachValid calls a function with the places of the values of a list that are not null.
func eachValid(list array.ListLike, row int, do func(i int)) {
	values := list.ListValues()
	for begin, end := list.ValueOffsets(row); begin < end; begin++ {
		if values.IsValid(int(begin)) {
			do(int(begin))
		}
	}
}

// Merged is what the sketch of several is if one of them is no sketch.
type Merged bool

const (
	// Result is null for values that are no sketches.
	Result Merged = false
	// State has no bytes for values that are no sketches, which [ResultOf] makes null: it is merged again, and the state of
	// no sketches is null.
	State Merged = true
)

// ResultOf is the result of a state of merged sketches.
func ResultOf(state expr.Expr) expr.Expr { return expr.Apply(resultOf{}, state) }

type resultOf struct{}

// Name implements expr.Operator.
func (resultOf) Name() string { return "merged_sketch" }

// Result implements expr.Operator.
func (resultOf) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return arrow.BinaryTypes.Binary, requireSketch(operands[0])
}

// Run implements expr.Operator.
func (resultOf) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return reading[[]byte]{arrow.BinaryTypes.Binary, requireBytes, func(b []byte, to array.Builder) { to.(*array.BinaryBuilder).Append(b) }}.run(ctx, operands, options)
}

// requireBytes returns the bytes of a sketch, and an error for none.
func requireBytes(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errFormat
	}
	return b, nil
}

// merging makes the sketch of all values of a list of sketches. It is null without sketches, and if a value is no sketch.
type merging[S any] struct {
	form  Merged
	parse func([]byte) (S, error)
	size  func(S) int // the result has that of the smallest
	merge func(smaller, other S) error
	bytes func(S) []byte
}

func (o merging[S]) run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return hostrows.Run(ctx, operands, arrow.BinaryTypes.Binary, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		list := operands[0].(array.ListLike)
		return func(row int, to array.Builder) {
			merged, n, err := o.merged(list, row)
			switch {
			case err == nil && n > 0:
				to.(*array.BinaryBuilder).Append(o.bytes(merged))
			case err != nil && o.form == State:
				to.(*array.BinaryBuilder).Append(nil)
			default:
				to.AppendNull()
			}
		}, nil
	})
}

// binaries is a column of binaries, with offsets of either width.
type binaries interface{ Value(i int) []byte }

// merged returns the sketch of a list of n sketches.
func (o merging[S]) merged(list array.ListLike, row int) (merged S, n int, err error) {
	sketches := list.ListValues().(binaries)
	eachValid(list, row, func(i int) {
		if err != nil {
			return
		}
		var next S
		if next, err = o.parse(sketches.Value(i)); err != nil {
			return
		}
		if n++; n == 1 {
			merged = next
			return
		}
		if o.size(merged) > o.size(next) {
			merged, next = next, merged
		}
		err = o.merge(merged, next)
	})
	return merged, n, err
}

// reading computes a value of a sketch. It is null if the value is no sketch.
type reading[S any] struct {
	result arrow.DataType
	parse  func([]byte) (S, error)
	append func(sketch S, to array.Builder)
}

func (o reading[S]) run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return hostrows.Run(ctx, operands, o.result, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		sketches := operands[0].(binaries)
		return func(row int, to array.Builder) {
			if sketch, err := o.parse(sketches.Value(row)); err == nil {
				o.append(sketch, to)
				return
			}
			to.AppendNull()
		}, nil
	})
}
