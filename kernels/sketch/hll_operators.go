package sketch

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// HLL is the HLL sketch, with 2^lgK registers, of the values of each list: integers, floats, bools, times, strings or
// binaries. Nulls are left out. The list is null for a null list.
func HLL(list expr.Expr, lgK int) expr.Expr { return expr.Apply(hllOf{LgK: lgK}, list) }

// MergeHLL is the sketch of all values of the sketches of each list. It is null if one of them is no HLL sketch.
func MergeHLL(list expr.Expr, form Merged) expr.Expr { return expr.Apply(mergeHLL{form}, list) }

// EstimateHLL is the number of distinct values of a sketch, as float64. It is null if the value is no HLL sketch.
func EstimateHLL(sketch expr.Expr) expr.Expr { return expr.Apply(estimateHLL{}, sketch) }

type (
	hllOf       struct{ LgK int }
	mergeHLL    struct{ Form Merged }
	estimateHLL struct{}
)

// Name implements expr.Operator.
func (hllOf) Name() string { return "hll_sketch" }

// Name implements expr.Operator.
func (mergeHLL) Name() string { return "hll_merge" }

// Name implements expr.Operator.
func (estimateHLL) Name() string { return "hll_estimate" }

// Result implements expr.Operator.
func (o hllOf) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if o.LgK < LeastLgK || o.LgK > MostLgK {
		return nil, fmt.Errorf("lg_k is %d, expected %d to %d: %w", o.LgK, LeastLgK, MostLgK, expr.ErrLiteral)
	}
	elements, err := elementsOf(operands[0])
	if err == nil && !isHashed(elements) {
		err = fmt.Errorf("values of %v, expected numbers, bools, times or strings: %w", render.TypeName(elements), expr.ErrType)
	}
	return arrow.BinaryTypes.Binary, err
}

// Result implements expr.Operator.
func (mergeHLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return mergedType(operands)
}

// Result implements expr.Operator.
func (estimateHLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return arrow.PrimitiveTypes.Float64, requireSketch(operands[0])
}

// Run implements expr.Operator.
func (o hllOf) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	add := func(values arrow.Array) func(h *hll, i int) {
		bytes := hashedBytes(values)
		return func(h *hll, i int) { h.add(couponOf(bytes(i))) }
	}
	return sketching[*hll]{func() *hll { return newHLL(o.LgK) }, add, (*hll).bytes}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (o mergeHLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return merging[*hll]{form: o.Form, parse: parseHLL, size: func(h *hll) int { return h.lgK }, bytes: (*hll).bytes, merge: func(h, other *hll) error {
		h.merge(other)
		return nil
	}}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (estimateHLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return reading[*hll]{arrow.PrimitiveTypes.Float64, parseHLL, func(h *hll, to array.Builder) {
		to.(*array.Float64Builder).Append(h.estimate())
	}}.run(ctx, operands, options)
}
