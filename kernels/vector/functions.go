package vector

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var operationNames = [...]string{"dot", "cosine_similarity", "l2_distance", "norm"}

// DotProduct is Σ xy of two vectors.
func DotProduct(x, y expr.Expr) expr.Expr { return apply(dotProduct, x, y) }

// CosineSimilarity is the cosine of the angle between two vectors, from −1 to 1. It is null if one of them has the length
// zero.
func CosineSimilarity(x, y expr.Expr) expr.Expr { return apply(cosineSimilarity, x, y) }

// L2Distance is the Euclidean distance of two vectors: √Σ (x−y)².
func L2Distance(x, y expr.Expr) expr.Expr { return apply(l2Distance, x, y) }

// Norm is the length of a vector: √Σ xx.
func Norm(x expr.Expr) expr.Expr { return expr.Apply(function{operation: norm}, x) }

// apply applies a function to two vectors. All of them give the same for vectors in the other order, so that a literal
// is the second one.
func apply(o operation, x, y expr.Expr) expr.Expr {
	if l, ok := literalOf(y); ok {
		return expr.Apply(function{operation: o, constant: l, hasConstant: true}, x)
	}
	if l, ok := literalOf(x); ok {
		return expr.Apply(function{operation: o, constant: l, hasConstant: true}, y)
	}
	return expr.Apply(function{operation: o}, x, y)
}

// function is a function of vectors.
type function struct {
	operation operation
	// constant is the second vector, if hasConstant is set.
	constant    literal
	hasConstant bool
}

func (f function) Name() string { return operationNames[f.operation] }

func (f function) Result(operands []arrow.DataType) (arrow.DataType, error) {
	size := -1
	if f.hasConstant {
		if _, err := f.constant.Result(nil); err != nil {
			return nil, err
		}
		size = f.constant.dim()
	}
	for _, t := range operands {
		if _, ok := numberOf(t); !ok {
			return nil, fmt.Errorf("%v is no list of integers or floats of 32 or 64 bits: %w", t, expr.ErrType)
		}
		fixed, ok := layout.Storage(t).(*arrow.FixedSizeListType)
		if !ok {
			continue
		}
		if size >= 0 && size != int(fixed.Len()) {
			return nil, fmt.Errorf("vectors of %d and %d elements, expected the same number: %w", size, fixed.Len(), expr.ErrType)
		}
		size = int(fixed.Len())
	}
	return arrow.PrimitiveTypes.Float64, nil
}

func (f function) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	x, err := listsOf(&call, operands[0])
	if err != nil {
		return nil, err
	}
	y := x
	switch {
	case f.hasConstant:
		if y, err = f.constant.lists(&call); err != nil {
			return nil, err
		}
	case len(operands) > 1:
		if y, err = listsOf(&call, operands[1]); err != nil {
			return nil, err
		}
	}
	result := op.Result{Type: arrow.PrimitiveTypes.Float64, Length: operands[0].Len(), RowCount: operands[0].RowCount(), Nullable: true}
	values, err := call.NewColumn(result, func(out op.Buffers) error {
		switch {
		case result.Length == 0:
			return nil
		case call.OnHost():
			return f.onHost(&call, out, x, y)
		}
		kernel, err := call.Kernel(&set, "vectors", "vector_functions")
		if err != nil {
			return err
		}
		a, b := x.layout(), y.layout()
		return kernel.Launch(call.Stream, kernels.GridFor((result.Length+63)/64*64, threads), device.Dim3{X: threads}, 0,
			out.Values, out.Valid, a.asArgument(), b.asArgument(), x.counted, uint64(result.Length), uint32(f.operation))
	})
	if f.hasConstant {
		return release.OnError(values, err, y.block.Release())
	}
	return values, err
}

// numberOf returns the kind of the elements of lists.
func numberOf(t arrow.DataType) (number, bool) {
	list, ok := layout.Storage(t).(arrow.ListLikeType)
	if !ok || list.Elem().ID() == arrow.EXTENSION {
		return 0, false
	}
	l, err := layout.Of(list.Elem())
	if err != nil || l.Width < 1 || l.Width > 8 {
		return 0, false
	}
	log := number(bits.TrailingZeros(uint(l.Width)))
	switch {
	case l.Class == layout.Signed:
		return signed1 + log, true
	case l.Class == layout.Unsigned:
		return unsigned1 + log, true
	case l.Class == layout.Float && l.Width >= 4:
		return float4 + log - 2, true
	}
	return 0, false
}
