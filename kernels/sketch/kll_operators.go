package sketch

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// KLL is the KLL sketch of size k of the numbers or decimals of each list: one of floats for float32, else one of doubles. Nulls
// and NaN are left out. The list is null for a null list.
func KLL(list expr.Expr, k int) expr.Expr { return expr.Apply(kllOf{K: k}, list) }

// MergeKLL is the sketch of all values of the sketches of each list. It is null if one of them is no KLL sketch.
func MergeKLL(list expr.Expr) expr.Expr { return expr.Apply(mergeKLL{}, list) }

// QuantileKLL is the first value of a sketch up to which a fraction rank of the values lies, as float64. It is null if the value
// is no KLL sketch, or one without values.
func QuantileKLL(sketch expr.Expr, rank float64) expr.Expr {
	return expr.Apply(quantileKLL{Rank: rank}, sketch)
}

// RankKLL is the fraction of the values of a sketch that are a value or less, as float64. It is null if the value is no KLL sketch, or
// one without values.
func RankKLL(sketch expr.Expr, value float64) expr.Expr {
	return expr.Apply(rankKLL{Value: value}, sketch)
}

// CountKLL is the number of values of a sketch, as int64. It is null if the value is no KLL sketch.
func CountKLL(sketch expr.Expr) expr.Expr { return expr.Apply(countKLL{}, sketch) }

type (
	kllOf       struct{ K int }
	mergeKLL    struct{}
	quantileKLL struct{ Rank float64 }
	rankKLL     struct{ Value float64 }
	countKLL    struct{}
)

// Name implements expr.Operator.
func (kllOf) Name() string { return "kll_sketch" }

// Name implements expr.Operator.
func (mergeKLL) Name() string { return "kll_merge" }

// Name implements expr.Operator.
func (quantileKLL) Name() string { return "kll_quantile" }

// Name implements expr.Operator.
func (rankKLL) Name() string { return "kll_rank" }

// Name implements expr.Operator.
func (countKLL) Name() string { return "kll_count" }

// Result implements expr.Operator.
func (o kllOf) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if o.K < LeastKLL || o.K > MostKLL {
		return nil, fmt.Errorf("k is %d, expected %d to %d: %w", o.K, LeastKLL, MostKLL, expr.ErrLiteral)
	}
	elements, err := elementsOf(operands[0])
	if err == nil && !isNumber(elements) {
		err = fmt.Errorf("values of %v, expected numbers or decimals: %w", elements, expr.ErrType)
	}
	return arrow.BinaryTypes.Binary, err
}

// Result implements expr.Operator.
func (mergeKLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return mergedType(operands)
}

// Result implements expr.Operator.
func (o quantileKLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if !(o.Rank >= 0 && o.Rank <= 1) {
		return nil, fmt.Errorf("rank is %v, expected 0 to 1: %w", o.Rank, expr.ErrLiteral)
	}
	return arrow.PrimitiveTypes.Float64, requireSketch(operands[0])
}

// Result implements expr.Operator.
func (o rankKLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if math.IsNaN(o.Value) {
		return nil, fmt.Errorf("the value is NaN, expected a number: %w", expr.ErrLiteral)
	}
	return arrow.PrimitiveTypes.Float64, requireSketch(operands[0])
}

// Result implements expr.Operator.
func (countKLL) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return arrow.PrimitiveTypes.Int64, requireSketch(operands[0])
}

// Run implements expr.Operator.
func (o kllOf) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	elements, _ := elementsOf(operands[0].Type())
	empty := func() *kll { return newKLL(o.K, elements.ID() == arrow.FLOAT32) }
	add := func(values arrow.Array) func(s *kll, i int) {
		number := numberOf(values)
		return func(s *kll, i int) { s.add(number(i)) }
	}
	return sketching[*kll]{empty, add, (*kll).bytes}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (mergeKLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return merging[*kll]{parseKLL, func(s *kll) int { return s.k }, (*kll).merge, (*kll).bytes}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (o quantileKLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return readKLL(ctx, operands, options, func(s *kll) float64 { return s.quantile(o.Rank) })
}

// Run implements expr.Operator.
func (o rankKLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return readKLL(ctx, operands, options, func(s *kll) float64 { return s.rank(o.Value) })
}

// readKLL computes a number of a sketch that has values.
func readKLL(ctx context.Context, operands []*column.Column, options kernels.Options, number func(*kll) float64) (*column.Column, error) {
	return reading[*kll]{arrow.PrimitiveTypes.Float64, parseKLL, func(s *kll, to array.Builder) {
		if s.n == 0 {
			to.AppendNull()
			return
		}
		to.(*array.Float64Builder).Append(number(s))
	}}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (countKLL) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return reading[*kll]{arrow.PrimitiveTypes.Int64, parseKLL, func(s *kll, to array.Builder) {
		to.(*array.Int64Builder).Append(s.n)
	}}.run(ctx, operands, options)
}
