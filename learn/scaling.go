package learn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// Linear is y = (x − Shift) / Scale of a column, as float64.
type Linear struct {
	Column string  `json:"column"`
	Shift  float64 `json:"shift"`
	Scale  float64 `json:"scale"`
}

// Scaling is a linear function of each column.
type Scaling struct {
	Columns []Linear `json:"columns"`
}

// Apply replaces the columns by float64.
func (s Scaling) Apply(q gpuframe.Query) gpuframe.Query {
	var columns []gpuframe.Expression
	for _, c := range s.Columns {
		columns = append(columns, number(c.Column).Sub(c.Shift).Div(c.Scale).As(c.Column))
	}
	return q.With(columns...)
}

func number(column string) gpuframe.Expr {
	return gpuframe.Col(column).Cast(arrow.PrimitiveTypes.Float64)
}

// FitStandardization makes the mean 0 and the standard deviation, of the population, 1. A column with one value
// only is divided by 1.
func FitStandardization(ctx context.Context, q gpuframe.Query, columns ...string) (Scaling, error) {
	return fitScaling(ctx, q, columns, []statistic{gpuframe.Expr.Mean, gpuframe.Expr.Variance, gpuframe.Expr.Count},
		func(s []float64) (shift, scale float64) {
			if s[2] < 2 {
				return s[0], 1
			}
			return s[0], math.Sqrt(s[1] * (s[2] - 1) / s[2])
		})
}

// FitMinMax makes the least value 0 and the greatest 1. A column with one value only becomes 0.
func FitMinMax(ctx context.Context, q gpuframe.Query, columns ...string) (Scaling, error) {
	return fitScaling(ctx, q, columns, []statistic{gpuframe.Expr.Min, gpuframe.Expr.Max},
		func(s []float64) (shift, scale float64) { return s[0], s[1] - s[0] })
}

// statistic is an aggregate of a column.
type statistic = func(gpuframe.Expr) gpuframe.Expr

func fitScaling(ctx context.Context, q gpuframe.Query, columns []string, wanted []statistic, linear func(s []float64) (shift, scale float64)) (Scaling, error) {
	var s Scaling
	fitted, err := statistics(ctx, q, columns, wanted)
	if err != nil {
		return s, err
	}
	s.Columns = make([]Linear, 0, len(columns))
	for i, name := range columns {
		shift, scale := linear(fitted[i])
		if scale == 0 {
			scale = 1
		}
		if err := finite(name, shift, scale); err != nil {
			return Scaling{}, err
		}
		s.Columns = append(s.Columns, Linear{name, shift, scale})
	}
	return s, nil
}

// finite refuses values of a column that are NaN or infinite, which no JSON has.
func finite(column string, list ...float64) error {
	for _, x := range list {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("learn: column %q: %v: fill or filter values that are NaN, infinite or near the ends of float64: %w", column, x, ErrNotFinite)
		}
	}
	return nil
}

// statistics computes aggregates of each column as float64, in one run. A null is 0, unless it is the first one: then
// the column has no values.
func statistics(ctx context.Context, q gpuframe.Query, columns []string, wanted []statistic) (list [][]float64, err error) {
	if len(columns) == 0 {
		return nil, nil
	}
	var aggregates []gpuframe.Expression
	for i, name := range columns {
		t, err := typeOf(ctx, q, name)
		if err != nil {
			return nil, err
		}
		if !arrow.IsInteger(t.ID()) && !arrow.IsFloating(t.ID()) && !arrow.IsDecimal(t.ID()) {
			return nil, fmt.Errorf("learn: column %q is %v, expected numbers: %w", name, t, ErrType)
		}
		for j, s := range wanted {
			aggregates = append(aggregates, s(number(name)).Cast(arrow.PrimitiveTypes.Float64).As(fmt.Sprint(i, " ", j)))
		}
	}
	f, err := q.Select(aggregates).Collect(ctx)
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	defer func() { err = errors.Join(err, f.Release()) }()
	for i, name := range columns {
		row := make([]float64, len(wanted))
		for j := range wanted {
			value, err := gpuframe.Column[*float64](ctx, f, fmt.Sprint(i, " ", j))
			if err != nil {
				return nil, err
			}
			if value[0] != nil {
				row[j] = *value[0]
			} else if j == 0 {
				return nil, fmt.Errorf("learn: column %q: %w", name, ErrNoRows)
			}
		}
		if err := finite(name, row...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}
