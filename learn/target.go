package learn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// TargetOptions configure the encoding of categories by a target.
type TargetOptions struct {
	// Smoothing is the weight of the mean of all rows, in rows: a category of n rows with a mean m has the value
	// (n·m + Smoothing·mean) / (n + Smoothing).
	Smoothing float64 `json:"smoothing"`
}

// Means are the values of the categories of a column.
type Means struct {
	Categories
	Means []float64 `json:"means"`
}

// TargetMeans are the smoothed means of a target for each category of some columns.
type TargetMeans struct {
	// Mean is that of all rows: the value of null and of categories that were not fitted.
	Mean    float64 `json:"mean"`
	Columns []Means `json:"columns"`
}

// FitTargetMeans computes the means of a column of numbers or bools for each category of columns. Rows with a null
// target are left out. The rows of training themselves are encoded by [LeaveOneOut] or [Folds], because their own
// target is in these means.
func FitTargetMeans(ctx context.Context, q gpuframe.Query, target string, o TargetOptions, columns ...string) (TargetMeans, error) {
	var m TargetMeans
	if err := o.check(); err != nil {
		return m, err
	}
	q = q.Filter(gpuframe.Col(target).IsValid()).With(number(target).As(target))
	all, err := statistics(ctx, q, []string{target}, []statistic{gpuframe.Expr.Mean})
	if err != nil {
		return m, err
	}
	m.Mean = all[0][0]
	m.Columns = make([]Means, 0, len(columns))
	for _, name := range columns {
		c, err := o.fit(ctx, q, target, m.Mean, name)
		if err != nil {
			return m, fmt.Errorf("learn: means of %q for %q: %w", target, name, err)
		}
		m.Columns = append(m.Columns, c)
	}
	return m, nil
}

func (o TargetOptions) check() error {
	if !(o.Smoothing >= 0) || math.IsInf(o.Smoothing, 1) {
		return fmt.Errorf("learn: the smoothing is %v, expected zero or more rows: %w", o.Smoothing, ErrOption)
	}
	return nil
}

func (o TargetOptions) fit(ctx context.Context, q gpuframe.Query, target string, mean float64, name string) (Means, error) {
	m := Means{Categories: Categories{Column: name}}
	t, err := typeOf(ctx, q, name)
	if err != nil {
		return m, err
	}
	stored, ok := storage(t)
	if !ok {
		return m, fmt.Errorf("the categories are %v, expected texts, integers or bools: %w", t, ErrType)
	}
	f, err := q.Select(category(name, stored).As("value"), gpuframe.Col(target).As("target")).GroupBy(gpuframe.Col("value")).DropNulls().
		Agg(o.smoothed(gpuframe.Col("target").Sum(), gpuframe.Count(), mean).As("mean")).Sort(gpuframe.Col("value")).Collect(ctx)
	if err != nil {
		return m, err
	}
	m.Values, err = values(ctx, f, "value", stored)
	if err == nil {
		m.Means, err = gpuframe.Column[float64](ctx, f, "mean")
	}
	return m, errors.Join(err, f.Release())
}

// smoothed is the smoothed mean of a sum of n targets.
func (o TargetOptions) smoothed(sum, n gpuframe.Expr, mean any) gpuframe.Expr {
	prior := gpuframe.Lit(o.Smoothing).Mul(mean)
	rows := n.Cast(arrow.PrimitiveTypes.Float64).Add(o.Smoothing)
	return gpuframe.If(rows.Gt(0.0), sum.FillNull(0.0).Add(prior).Div(rows), mean)
}

// Apply replaces the columns by means of type float64.
func (m TargetMeans) Apply(q gpuframe.Query) gpuframe.Query {
	for _, c := range m.Columns {
		q = lookup(q, c.Categories, c.Means).With(gpuframe.Col(foundColumn).FillNull(m.Mean).As(c.Column)).Drop(foundColumn)
	}
	return q
}

// LeaveOneOut replaces the categories of the rows of training by the smoothed mean of the targets of the other rows
// of the category. The mean of all rows is that of those with a target.
func LeaveOneOut(q gpuframe.Query, target string, o TargetOptions, columns ...string) (gpuframe.Query, error) {
	return o.without(q, target, columns, nil)
}

// Folds replaces the categories of the rows of training by the smoothed mean of the targets of the category in the
// other folds. The fold of a row is a hash of a key and of the seed: rows with the same key are in one fold.
func Folds(q gpuframe.Query, target string, n int, key gpuframe.Expression, seed int64, o TargetOptions, columns ...string) (gpuframe.Query, error) {
	if n < 2 {
		return gpuframe.Query{}, fmt.Errorf("learn: %d folds, expected 2 or more: %w", n, ErrOption)
	}
	fold := gpuframe.Hash(key, seed).Mod(uint64(n))
	return o.without(q, target, columns, fold)
}

// without encodes each row without its own target, or without those of its fold.
func (o TargetOptions) without(q gpuframe.Query, target string, columns []string, fold gpuframe.Expression) (gpuframe.Query, error) {
	if err := o.check(); err != nil {
		return gpuframe.Query{}, err
	}
	y := number(target)
	mean := y.Mean().Over(gpuframe.By())
	var encoded []gpuframe.Expression
	for _, name := range columns {
		category := gpuframe.By(gpuframe.Col(name))
		own, ownRows := y.FillNull(0.0), gpuframe.If(y.IsValid(), int64(1), int64(0))
		if fold != nil {
			same := gpuframe.By(gpuframe.Col(name), fold)
			own, ownRows = y.Sum().Over(same).FillNull(0.0), y.Count().Over(same)
		}
		sum := y.Sum().Over(category).FillNull(0.0).Sub(own)
		n := y.Count().Over(category).Cast(arrow.PrimitiveTypes.Int64).Sub(ownRows.Cast(arrow.PrimitiveTypes.Int64))
		smoothed := o.smoothed(sum, n, mean)
		encoded = append(encoded, gpuframe.If(gpuframe.Col(name).IsNull(), mean, smoothed).As(name))
	}
	return q.With(encoded...), nil
}
