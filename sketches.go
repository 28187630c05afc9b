package gpuframe

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
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

// kllSketch is [Expr.KLLSketch]: of the list of the values.
func (e Expr) kllSketch(k int) Expr {
	return unary(e.List().SkipNulls(), func(list expr.Expr) expr.Expr { return sketch.KLL(list, k) })
}

// kllMerge is [Expr.KLLMerge].
func (e Expr) kllMerge() Expr { return unary(e.List().SkipNulls(), sketch.MergeKLL) }

// kllLongsMerge is [Expr.KLLLongsMerge].
func (e Expr) kllLongsMerge() Expr { return unary(e.List().SkipNulls(), sketch.MergeKLLLongs) }

// kllItemsMerge is [Expr.KLLItemsMerge].
func (e Expr) kllItemsMerge() Expr { return unary(e.List().SkipNulls(), sketch.MergeKLLTexts) }

// approxQuantile is [Expr.ApproxQuantile]: of the list of the values.
func (e Expr) approxQuantile(q float64) Expr {
	return unary(e.List().SkipNulls(), func(list expr.Expr) expr.Expr { return sketch.ApproxQuantile(list, q) })
}

// frequentItemsSketch is [Expr.FrequentItemsSketch]: of the list of the values.
func (e Expr) frequentItemsSketch(maxSize int) Expr {
	return unary(e.List().SkipNulls(), func(list expr.Expr) expr.Expr { return sketch.Frequent(list, maxSize) })
}

// frequentItemsMerge is [Expr.FrequentItemsMerge].
func (e Expr) frequentItemsMerge() Expr {
	return unary(e.List().SkipNulls(), sketch.MergeFrequentTexts)
}

// frequentLongsMerge is [Expr.FrequentLongsMerge].
func (e Expr) frequentLongsMerge() Expr {
	return unary(e.List().SkipNulls(), sketch.MergeFrequentLongs)
}

// approxTopK is [Expr.ApproxTopK].
func (e Expr) approxTopK(n int) Expr {
	return frequency(plan.Aggregation{Function: bind.FrequentValues, Count: int64(n)}, topOfLists, e)
}

// frequency is a function of the frequencies of the values of an expression.
func frequency(a plan.Aggregation, form *bind.ListForm, e Expr) Expr {
	return apply(func(list []expr.Expr) expr.Expr {
		a.Values = list
		return bind.Frequency(a, form)
	}, e)
}

// topOfLists is the elements of the list of the values at the places of the most frequent ones.
var topOfLists = &bind.ListForm{Tree: func(list expr.Expr, a plan.Aggregation) expr.Expr {
	return nested.Take(list, sketch.TopItems(list, int(a.Count)))
}}
