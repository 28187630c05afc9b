package sketch

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// KLL is the KLL sketch of size k of the values of each list: DataSketches' KllFloatsSketch of float32, its KllDoublesSketch of other
// numbers and decimals, its KllLongsSketch of times, its KllItemsSketch of strings. Nulls and NaN are left out. The list is null for
// a null list.
func KLL(list expr.Expr, k int) expr.Expr { return expr.Apply(kllOf{K: k}, list) }

// MergeKLL is the sketch of all values of the sketches of numbers of each list. It is null if a value is no such sketch.
func MergeKLL(list expr.Expr, form Merged) expr.Expr {
	return expr.Apply(mergeKLL[float64, doubles]{form}, list)
}

// MergeKLLTexts is [MergeKLL] of sketches of strings.
func MergeKLLTexts(list expr.Expr, form Merged) expr.Expr {
	return expr.Apply(mergeKLL[string, texts]{form}, list)
}

// MergeKLLLongs is [MergeKLL] of sketches of times.
func MergeKLLLongs(list expr.Expr, form Merged) expr.Expr {
	return expr.Apply(mergeKLL[int64, longs]{form}, list)
}

// QuantileKLL is the first value of a sketch of numbers up to which a fraction rank of the values lies, as float64. It is null if the
// value is no such sketch, or one without values.
func QuantileKLL(sketch expr.Expr, rank float64) expr.Expr {
	return expr.Apply(quantileKLL[float64, doubles]{Rank: rank}, sketch)
}

// QuantileKLLTexts is [QuantileKLL] of a sketch of strings.
func QuantileKLLTexts(sketch expr.Expr, rank float64) expr.Expr {
	return expr.Apply(quantileKLL[string, texts]{Rank: rank}, sketch)
}

// QuantileKLLLongs is [QuantileKLL] of a sketch of times, as int64.
func QuantileKLLLongs(sketch expr.Expr, rank float64) expr.Expr {
	return expr.Apply(quantileKLL[int64, longs]{Rank: rank}, sketch)
}

// RankKLL is the fraction of the values of a sketch of numbers that are a value or less, as float64. NaN is above all numbers. It is
// null if the value is no such sketch, or one without values.
func RankKLL(sketch expr.Expr, value float64) expr.Expr {
	if math.IsNaN(value) {
		value = math.Inf(1)
	}
	return expr.Apply(rankKLL[float64, doubles]{Value: value}, sketch)
}

// RankKLLTexts is [RankKLL] of a sketch of strings.
func RankKLLTexts(sketch expr.Expr, value string) expr.Expr {
	return expr.Apply(rankKLL[string, texts]{Value: value}, sketch)
}

// RankKLLLongs is [RankKLL] of a sketch of times, which are integers.
func RankKLLLongs(sketch expr.Expr, value float64) expr.Expr {
	return expr.Apply(rankKLL[int64, longs]{Value: wholeBelow(value)}, sketch)
}

// wholeBelow returns the greatest integer that is a number or less, of those that int64 holds.
func wholeBelow(value float64) int64 {
	switch {
	case value < math.MinInt64:
		return math.MinInt64
	case value < math.MaxInt64:
		return int64(math.Floor(value))
	}
	return math.MaxInt64
}

// CountKLL is the number of values of a sketch, as int64. It is null if the value is no KLL sketch.
func CountKLL(sketch expr.Expr) expr.Expr { return expr.Apply(countKLL{}, sketch) }

type (
	kllOf                                      struct{ K int }
	mergeKLL[T cmp.Ordered, F valueForm[T]]    struct{ Form Merged }
	quantileKLL[T cmp.Ordered, F valueForm[T]] struct{ Rank float64 }
	rankKLL[T cmp.Ordered, F valueForm[T]]     struct{ Value T }
	countKLL                                   struct{}
)

// Name implements expr.Operator.
func (kllOf) Name() string { return "kll_sketch" }

// Name implements expr.Operator.
func (mergeKLL[T, F]) Name() string { return nameOf[T, F]("kll", "merge") }

// Name implements expr.Operator.
func (quantileKLL[T, F]) Name() string { return nameOf[T, F]("kll", "quantile") }

// Name implements expr.Operator.
func (rankKLL[T, F]) Name() string { return nameOf[T, F]("kll", "rank") }

// Name implements expr.Operator.
func (countKLL) Name() string { return "kll_count" }

// Result implements expr.Operator.
func (o kllOf) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if o.K < LeastKLL || o.K > MostKLL {
		return nil, fmt.Errorf("k is %d, expected %d to %d: %w", o.K, LeastKLL, MostKLL, expr.ErrLiteral)
	}
	elements, err := elementsOf(operands[0])
	if err == nil {
		err = requireOrdered(elements)
	}
	return arrow.BinaryTypes.Binary, err
}

// Result implements expr.Operator.
func (mergeKLL[T, F]) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return mergedType(operands)
}

// Result implements expr.Operator.
func (o quantileKLL[T, F]) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if err := requireRank(o.Rank); err != nil {
		return nil, err
	}
	var form F
	return form.dataType(), requireSketch(operands[0])
}

// requireRank refuses a number that is no fraction.
func requireRank(rank float64) error {
	if !(rank >= 0 && rank <= 1) {
		return fmt.Errorf("the rank is %v, expected 0 to 1: %w", rank, expr.ErrLiteral)
	}
	return nil
}

// Result implements expr.Operator.
func (rankKLL[T, F]) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return arrow.PrimitiveTypes.Float64, requireSketch(operands[0])
}

// Result implements expr.Operator.
func (countKLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return arrow.PrimitiveTypes.Int64, requireSketch(operands[0])
}

// Run implements expr.Operator.
func (o kllOf) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	elements, _ := elementsOf(operands[0].Type())
	switch {
	case isText(elements):
		return sketchValues[string](ctx, operands, o.K, texts{}, options)
	case isTime(elements):
		return sketchValues[int64](ctx, operands, o.K, longs{}, options)
	case elements.ID() == arrow.FLOAT32:
		return sketchValues[float64](ctx, operands, o.K, floats{}, options)
	}
	return sketchValues[float64](ctx, operands, o.K, doubles{}, options)
}

func sketchValues[T cmp.Ordered](ctx context.Context, operands []*column.Column, k int, form valueForm[T], options kernels.Options) (*column.Column, error) {
	add := func(values arrow.Array) func(s *kll[T], i int) {
		value := form.items(values)
		return func(s *kll[T], i int) { s.add(value(i)) }
	}
	return sketching[*kll[T]]{func() *kll[T] { return newKLL(k, form) }, add, (*kll[T]).bytes}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (o mergeKLL[T, F]) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	var form F
	parse := func(b []byte) (*kll[T], error) { return parseKLL(b, valueForm[T](form)) }
	return merging[*kll[T]]{o.Form, parse, func(s *kll[T]) int { return s.k }, (*kll[T]).merge, (*kll[T]).bytes}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (o quantileKLL[T, F]) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	var form F
	return readKLL(ctx, operands, options, valueForm[T](form), form.dataType(), func(s *kll[T], to array.Builder) { form.append(to, s.quantile(o.Rank)) })
}

// Run implements expr.Operator.
func (o rankKLL[T, F]) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	var form F
	return readKLL(ctx, operands, options, valueForm[T](form), arrow.PrimitiveTypes.Float64, func(s *kll[T], to array.Builder) {
		to.(*array.Float64Builder).Append(s.rank(o.Value))
	})
}

// readKLL computes a value of a sketch that has values.
func readKLL[T cmp.Ordered](ctx context.Context, operands []*column.Column, options kernels.Options, form valueForm[T], result arrow.DataType,
	value func(s *kll[T], to array.Builder)) (*column.Column, error) {
	parse := func(b []byte) (*kll[T], error) { return parseKLL(b, form) }
	return reading[*kll[T]]{result, parse, func(s *kll[T], to array.Builder) {
		if s.n == 0 {
			to.AppendNull()
			return
		}
		value(s, to)
	}}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (countKLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return reading[int64]{arrow.PrimitiveTypes.Int64, countOfKLL, func(n int64, to array.Builder) { to.(*array.Int64Builder).Append(n) }}.run(ctx, operands, options)
}

// countOfKLL returns the number of values of a sketch of any kind.
func countOfKLL(b []byte) (int64, error) {
	if s, err := parseKLL(b, valueForm[float64](doubles{})); err == nil {
		return s.n, nil
	}
	if s, err := parseKLL(b, valueForm[int64](longs{})); err == nil {
		return s.n, nil
	}
	s, err := parseKLL(b, valueForm[string](texts{}))
	if err != nil {
		return 0, err
	}
	return s.n, nil
}
