package sketch

import (
	"cmp"
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op/hostrows"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// QuantileSize is the size of the sketch of an approximate quantile.
const QuantileSize = 200

// ApproxQuantile is the quantile of a KLL sketch of size 200 of the values of each list: of numbers and decimals as float64, of times
// and strings as their type. It is null without values.
func ApproxQuantile(list expr.Expr, rank float64) expr.Expr {
	return expr.Apply(approxQuantile{Rank: rank}, list)
}

type approxQuantile struct{ Rank float64 }

// QuantileOf is the quantile, as [ApproxQuantile] has it, of a sketch that [KLL] has made of values of a type.
func QuantileOf(sketch expr.Expr, rank float64, values arrow.DataType) expr.Expr {
	return expr.Apply(quantileOf{Rank: rank, Values: values}, sketch)
}

type quantileOf struct {
	Rank   float64
	Values arrow.DataType
}

// Name implements expr.Operator.
func (quantileOf) Name() string { return "quantile_of" }

// Result implements expr.Operator.
func (o quantileOf) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if err := requireRank(o.Rank); err != nil {
		return nil, err
	}
	return quantileType(o.Values), requireSketch(operands[0])
}

// Run implements expr.Operator.
func (o quantileOf) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	result := quantileType(o.Values)
	switch {
	case isText(o.Values):
		return readKLL[string](ctx, operands, options, texts{}, result, func(s *kll[string], to array.Builder) { appendText(to, s.quantile(o.Rank)) })
	case isTime(o.Values):
		return readKLL[int64](ctx, operands, options, longs{}, result, func(s *kll[int64], to array.Builder) { appendTime(to, s.quantile(o.Rank)) })
	}
	return readKLL[float64](ctx, operands, options, doubles{}, result, func(s *kll[float64], to array.Builder) { doubles{}.append(to, s.quantile(o.Rank)) })
}

// MergeKLLOf is the state of all values of a type, of lists of sketches that [KLL] has made of them.
func MergeKLLOf(list expr.Expr, values arrow.DataType) expr.Expr {
	switch {
	case isText(values):
		return MergeKLLTexts(list, State)
	case isTime(values):
		return MergeKLLLongs(list, State)
	}
	return MergeKLL(list, State)
}

// MergeFrequentOf is the state of all values of a type, of lists of sketches that [Frequent] has made of them.
func MergeFrequentOf(list expr.Expr, values arrow.DataType) expr.Expr {
	if isText(values) {
		return MergeFrequentTexts(list, State)
	}
	return MergeFrequentLongs(list, State)
}

// Name implements expr.Operator.
func (approxQuantile) Name() string { return "approx_quantile" }

// Result implements expr.Operator.
func (o approxQuantile) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if err := requireRank(o.Rank); err != nil {
		return nil, err
	}
	elements, err := elementsOf(operands[0])
	if err == nil {
		err = requireOrdered(elements)
	}
	if err != nil {
		return nil, err
	}
	return quantileType(elements), nil
}

// quantileType is the type of a quantile of values.
func quantileType(elements arrow.DataType) arrow.DataType {
	if isTime(elements) || isText(elements) {
		return elements
	}
	return arrow.PrimitiveTypes.Float64
}

// Run implements expr.Operator.
func (o approxQuantile) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	elements, err := elementsOf(operands[0].Type())
	if err != nil {
		return nil, err
	}
	result := quantileType(elements)
	return hostrows.Run(ctx, operands, result, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		list := operands[0].(array.ListLike)
		switch {
		case isText(elements):
			return quantiles[string](list, texts{}, o.Rank, appendText), nil
		case isTime(elements):
			return quantiles[int64](list, longs{}, o.Rank, appendTime), nil
		}
		return quantiles[float64](list, doubles{}, o.Rank, doubles{}.append), nil
	})
}

// quantiles returns the function that appends the quantile of a list.
func quantiles[T cmp.Ordered](list array.ListLike, form valueForm[T], rank float64, add func(to array.Builder, v T)) hostrows.Append {
	value := form.items(list.ListValues())
	return func(row int, to array.Builder) {
		s := newKLL(QuantileSize, form)
		eachValid(list, row, func(i int) { s.add(value(i)) })
		if s.n == 0 {
			to.AppendNull()
			return
		}
		add(to, s.quantile(rank))
	}
}

// appendText appends a value of a column, with its own bytes.
func appendText(to array.Builder, v string) {
	to.(interface{ Append(v string) }).Append(v)
}

// appendTime appends the integer that stores a time.
func appendTime(to array.Builder, v int64) {
	switch b := to.(type) {
	case *array.Date32Builder:
		b.Append(arrow.Date32(v))
	case *array.Date64Builder:
		b.Append(arrow.Date64(v))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v))
	case *array.Time32Builder:
		b.Append(arrow.Time32(v))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(v))
	}
}
