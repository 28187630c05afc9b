package learn

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe"
)

// Edges are the edges of the bins of a column, ascending, the least and the greatest value among them.
type Edges struct {
	Column string    `json:"column"`
	Edges  []float64 `json:"edges"`
}

// Bins are numbers of bins, from 0. A bin has its lower edge and not its upper one; the last bin has both. Values
// outside of the edges are in the first or the last bin.
type Bins struct {
	Columns []Edges `json:"columns"`
}

// inner are the edges between two bins.
func (e Edges) inner() []float64 {
	if len(e.Edges) < 3 {
		return nil
	}
	return e.Edges[1 : len(e.Edges)-1]
}

// Apply replaces the columns by numbers of bins, of type int64. NaN and null are null.
func (b Bins) Apply(q gpuframe.Query) gpuframe.Query {
	var columns []gpuframe.Expression
	for _, c := range b.Columns {
		x := number(c.Column)
		bin := gpuframe.If(x.IsNaN(), nil, int64(0))
		for _, edge := range c.inner() {
			bin = bin.Add(gpuframe.If(x.Ge(edge), int64(1), int64(0)))
		}
		columns = append(columns, gpuframe.If(x.IsValid(), bin, nil).As(c.Column))
	}
	return q.With(columns...)
}

// FitUniformBins makes n bins of equal width of each column of numbers. A column with one value only has one bin.
func FitUniformBins(ctx context.Context, q gpuframe.Query, n int, columns ...string) (Bins, error) {
	return fitBins(ctx, q, n, columns, []statistic{gpuframe.Expr.Min, gpuframe.Expr.Max}, func(s []float64) []float64 {
		edges := make([]float64, n+1)
		for i := range edges {
			edges[i] = s[0] + (s[1]-s[0])*float64(i)/float64(n)
		}
		edges[n] = s[1]
		return edges
	})
}

// FitQuantileBins makes up to n bins with about the same number of rows, of each column of numbers. Edges that are
// equal are one: a column with one value only has one bin.
func FitQuantileBins(ctx context.Context, q gpuframe.Query, n int, columns ...string) (Bins, error) {
	var quantiles []statistic
	for i := range max(n, 0) + 1 {
		at := float64(i) / float64(max(n, 1))
		quantiles = append(quantiles, func(e gpuframe.Expr) gpuframe.Expr { return e.Quantile(at) })
	}
	return fitBins(ctx, q, n, columns, quantiles, slices.Clone[[]float64])
}

func fitBins(ctx context.Context, q gpuframe.Query, n int, columns []string, wanted []statistic, edges func([]float64) []float64) (Bins, error) {
	var b Bins
	const most = 1000
	if n < 1 || n > most {
		return b, fmt.Errorf("learn: %d bins, expected 1 to %d: %w", n, most, ErrOption)
	}
	fitted, err := statistics(ctx, q, columns, wanted)
	if err != nil {
		return b, err
	}
	b.Columns = make([]Edges, 0, len(columns))
	for i, name := range columns {
		limits := slices.Compact(edges(fitted[i]))
		if err := finite(name, limits...); err != nil {
			return Bins{}, err
		}
		b.Columns = append(b.Columns, Edges{name, limits})
	}
	return b, nil
}
