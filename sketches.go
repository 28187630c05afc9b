package gpuframe

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/sketch"
)

// hllSketch is [Expr.HLLSketch]: of the list of the values.
func (e Expr) hllSketch(lgK int) Expr {
	return unary(e.List().SkipNulls(), func(list expr.Expr) expr.Expr { return sketch.HLL(list, lgK) })
}

// hllMerge is [Expr.HLLMerge].
func (e Expr) hllMerge() Expr { return unary(e.List().SkipNulls(), sketch.MergeHLL) }

// approxCountDistinct is [Expr.ApproxCountDistinct].
func (e Expr) approxCountDistinct() Expr {
	const lgK = 12
	return e.hllSketch(lgK).HLLEstimate().Round().Cast(arrow.PrimitiveTypes.Int64)
}
