package gpuframe

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/kernels/sketch"
)

// hllSketch is [Expr.HLLSketch].
func (e Expr) hllSketch(lgK int) Expr {
	values := func(list expr.Expr) expr.Expr { return sketch.HLL(list, lgK) }
	merge := func(list expr.Expr, _ arrow.DataType) expr.Expr { return sketch.MergeHLL(list, sketch.State) }
	return folded(plan.Aggregation{Function: "hll_sketch", Count: int64(lgK)}, group.Folding{Fold: values, Merge: merge}, values, e)
}

// hllMerge is [Expr.HLLMerge].
func (e Expr) hllMerge() Expr { return merged("hll_merge", sketch.MergeHLL, e) }

// approxCountDistinct is [Expr.ApproxCountDistinct].
func (e Expr) approxCountDistinct() Expr {
	const lgK = 12
	values := func(list expr.Expr) expr.Expr { return sketch.HLL(list, lgK) }
	merge := func(list expr.Expr, _ arrow.DataType) expr.Expr { return sketch.MergeHLL(list, sketch.State) }
	count := func(state expr.Expr) expr.Expr {
		return sketch.EstimateHLL(state).Round().Cast(arrow.PrimitiveTypes.Int64)
	}
	result := func(state expr.Expr, _ arrow.DataType) expr.Expr { return count(state) }
	ofList := func(list expr.Expr) expr.Expr { return count(values(list)) }
	return folded(plan.Aggregation{Function: "approx_count_distinct"}, group.Folding{Fold: values, Merge: merge, Result: result}, ofList, e)
}

// kllSketch is [Expr.KLLSketch].
func (e Expr) kllSketch(k int) Expr {
	values := func(list expr.Expr) expr.Expr { return sketch.KLL(list, k) }
	return folded(plan.Aggregation{Function: "kll_sketch", Count: int64(k)}, group.Folding{Fold: values, Merge: sketch.MergeKLLOf}, values, e)
}

// kllMerge is [Expr.KLLMerge].
func (e Expr) kllMerge() Expr { return merged("kll_merge", sketch.MergeKLL, e) }

// kllLongsMerge is [Expr.KLLLongsMerge].
func (e Expr) kllLongsMerge() Expr { return merged("kll_longs_merge", sketch.MergeKLLLongs, e) }

// kllItemsMerge is [Expr.KLLItemsMerge].
func (e Expr) kllItemsMerge() Expr { return merged("kll_items_merge", sketch.MergeKLLTexts, e) }

// approxQuantile is [Expr.ApproxQuantile].
func (e Expr) approxQuantile(q float64) Expr {
	values := func(list expr.Expr) expr.Expr { return sketch.KLL(list, sketch.QuantileSize) }
	result := func(state expr.Expr, t arrow.DataType) expr.Expr { return sketch.QuantileOf(state, q, t) }
	ofList := func(list expr.Expr) expr.Expr { return sketch.ApproxQuantile(list, q) }
	return folded(plan.Aggregation{Function: "approx_quantile", Number: q}, group.Folding{Fold: values, Merge: sketch.MergeKLLOf, Result: result}, ofList, e)
}

// frequentItemsSketch is [Expr.FrequentItemsSketch].
func (e Expr) frequentItemsSketch(maxSize int) Expr {
	values := func(list expr.Expr) expr.Expr { return sketch.Frequent(list, maxSize) }
	return folded(plan.Aggregation{Function: "frequent_items_sketch", Count: int64(maxSize)}, group.Folding{Fold: values, Merge: sketch.MergeFrequentOf}, values, e)
}

// frequentItemsMerge is [Expr.FrequentItemsMerge].
func (e Expr) frequentItemsMerge() Expr {
	return merged("frequent_items_merge", sketch.MergeFrequentTexts, e)
}

// frequentLongsMerge is [Expr.FrequentLongsMerge].
func (e Expr) frequentLongsMerge() Expr {
	return merged("frequent_longs_merge", sketch.MergeFrequentLongs, e)
}

// folded is an aggregate of states of limited size. Those of windows and orders are of lists.
func folded(a plan.Aggregation, f group.Folding, ofList func(list expr.Expr) expr.Expr, e Expr) Expr {
	f.Name, f.State = a.Function, arrow.BinaryTypes.Binary
	a.Folding = &f
	form := &bind.ListForm{Function: a.Function, Tree: func(list expr.Expr, _ plan.Aggregation) expr.Expr { return ofList(list) }}
	return apply(func(list []expr.Expr) expr.Expr {
		a.Values = list
		return bind.Folded(a, form)
	}, e)
}

// merged is the sketch of sketches.
func merged(name string, merge func(list expr.Expr, form sketch.Merged) expr.Expr, e Expr) Expr {
	state := func(list expr.Expr) expr.Expr { return merge(list, sketch.State) }
	return folded(plan.Aggregation{Function: name}, group.Folding{
		Fold: state, Merge: func(list expr.Expr, _ arrow.DataType) expr.Expr { return state(list) },
		Result: func(state expr.Expr, _ arrow.DataType) expr.Expr { return sketch.ResultOf(state) },
	}, func(list expr.Expr) expr.Expr { return merge(list, sketch.Result) }, e)
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
var topOfLists = &bind.ListForm{Function: bind.FrequentValues, Tree: func(list expr.Expr, a plan.Aggregation) expr.Expr {
	return nested.Take(list, sketch.TopItems(list, int(a.Count)))
}}
