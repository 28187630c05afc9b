package sql

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// sketches returns the aggregates that are sketches, and those that are estimated by one. Those of DuckDB have its signatures.
func sketches() map[string]aggregate {
	return map[string]aggregate{
		"approx_quantile":       {least: 2, most: 2, make: approxQuantile},
		"approx_top_k":          {least: 2, most: 2, make: approxTopK},
		"hll_sketch":            sketchOf("lg_k", true, gpuframe.Expr.HLLSketch),
		"hll_merge":             {least: 1, most: 1, once: true, make: simple(gpuframe.Expr.HLLMerge)},
		"kll_sketch":            sketchOf("k", false, gpuframe.Expr.KLLSketch),
		"kll_merge":             {least: 1, most: 1, make: simple(gpuframe.Expr.KLLMerge)},
		"kll_longs_merge":       {least: 1, most: 1, make: simple(gpuframe.Expr.KLLLongsMerge)},
		"kll_items_merge":       {least: 1, most: 1, make: simple(gpuframe.Expr.KLLItemsMerge)},
		"frequent_items_sketch": sketchOf("max_size", false, gpuframe.Expr.FrequentItemsSketch),
		"frequent_items_merge":  {least: 1, most: 1, make: simple(gpuframe.Expr.FrequentItemsMerge)},
		"frequent_longs_merge":  {least: 1, most: 1, make: simple(gpuframe.Expr.FrequentLongsMerge)},
	}
}

// sketchOf is a sketch of values, of a size.
func sketchOf(size string, once bool, f func(e gpuframe.Expr, size int) gpuframe.Expr) aggregate {
	return aggregate{least: 2, most: 2, once: once, make: func(t *translation, at *tree.Call, list []value) value {
		n := t.whole(at, list[1], size)
		return t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return f(list[0], n) }, list[0])
	}}
}

// approxQuantile is about the value below which a fraction of the values lie: one of them, with their type.
func approxQuantile(t *translation, at *tree.Call, list []value) value {
	q := t.float(at, list[1], "the fraction")
	v := t.settled(list[0])
	if isBool(v.dataType) || isText(v.dataType) || v.interval != nil {
		t.fail(at, "approx_quantile of %s is not supported, expected numbers or times", typeOf(v))
	}
	return t.cast(at, t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].ApproxQuantile(q) }, v), v.dataType)
}

// approxTopK is the list of about the most frequent values, or null without any.
func approxTopK(t *translation, at *tree.Call, list []value) value {
	n := t.whole(at, list[1], "the number of values")
	v := t.settled(list[0])
	top := t.typed(at, func(list []gpuframe.Expr) gpuframe.Expr { return list[0].ApproxTopK(n) }, v)
	top.dataType = arrow.ListOf(v.dataType)
	return t.nullWhere(at, top, t.binary(at, "=", t.length(at, top), constant(int64(0))))
}
