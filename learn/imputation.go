package learn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe"
)

// Filling is the value that takes the place of nulls in a column.
type Filling struct {
	Column string `json:"column"`
	Value  Value  `json:"value"`
}

// Imputation fills nulls.
type Imputation struct {
	Columns []Filling `json:"columns"`
}

// Apply fills the nulls. Means and medians make float64 of the column, integers int64.
func (m Imputation) Apply(q gpuframe.Query) gpuframe.Query {
	var columns []gpuframe.Expression
	for _, c := range m.Columns {
		column := gpuframe.Col(c.Column)
		if c.Value.Float != nil {
			column = number(c.Column)
		}
		columns = append(columns, column.FillNull(c.Value.Literal()).As(c.Column))
	}
	return q.With(columns...)
}

// Constant fills nulls with a string, an integer, a float64 or a bool. It needs no rows. NaN and
// infinite values are refused: a fitted value can be written as JSON.
func Constant(value any, columns ...string) (Imputation, error) {
	v, err := ValueOf(value)
	if f := v.Float; f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
		return Imputation{}, fmt.Errorf("learn: the constant is %v, expected a finite number: %w", *f, ErrOption)
	}
	m := Imputation{Columns: make([]Filling, 0, len(columns))}
	for _, name := range columns {
		m.Columns = append(m.Columns, Filling{name, v})
	}
	return m, err
}

// FitMean fills nulls with the mean of the numbers.
func FitMean(ctx context.Context, q gpuframe.Query, columns ...string) (Imputation, error) {
	return fitNumbers(ctx, q, gpuframe.Expr.Mean, columns)
}

// FitMedian fills nulls with the median of the numbers.
func FitMedian(ctx context.Context, q gpuframe.Query, columns ...string) (Imputation, error) {
	return fitNumbers(ctx, q, gpuframe.Expr.Median, columns)
}

func fitNumbers(ctx context.Context, q gpuframe.Query, s statistic, columns []string) (Imputation, error) {
	var m Imputation
	fitted, err := statistics(ctx, q, columns, []statistic{s})
	if err != nil {
		return m, err
	}
	m.Columns = make([]Filling, 0, len(columns))
	for i, name := range columns {
		m.Columns = append(m.Columns, Filling{name, Value{Float: &fitted[i][0]}})
	}
	return m, nil
}

// FitMode fills nulls with the most frequent value of texts, integers or bools, the least of several.
func FitMode(ctx context.Context, q gpuframe.Query, columns ...string) (Imputation, error) {
	m := Imputation{Columns: make([]Filling, 0, len(columns))}
	for _, name := range columns {
		t, err := typeOf(ctx, q, name)
		if err != nil {
			return m, err
		}
		stored, ok := storage(t)
		if !ok {
			return m, fmt.Errorf("learn: the mode of %q, which is %v, expected texts, integers or bools: %w", name, t, ErrType)
		}
		count := gpuframe.Count().As("count")
		f, err := q.Select(category(name, stored).As("value")).GroupBy(gpuframe.Col("value")).DropNulls().Agg(count).
			Top(1, gpuframe.Col("count").Desc(), gpuframe.Col("value")).Collect(ctx)
		if err != nil {
			return m, fmt.Errorf("learn: the mode of %q: %w", name, err)
		}
		list, err := values(ctx, f, "value", stored)
		if err == nil && len(list) == 0 {
			err = ErrNoRows
		}
		if err = errors.Join(err, f.Release()); err != nil {
			return m, fmt.Errorf("learn: the mode of %q: %w", name, err)
		}
		m.Columns = append(m.Columns, Filling{name, list[0]})
	}
	return m, nil
}
