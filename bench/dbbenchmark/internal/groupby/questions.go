package groupby

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

var v1, v2, v3 = expr.Col("v1"), expr.Col("v2"), expr.Col("v3")

// Question is one of the benchmark.
type Question struct {
	Name, Text string
	// SQL is the question to DuckDB, as in its entry of the benchmark. Its keys come first.
	SQL  string
	Keys []string

	aggregates []group.Aggregate
	// where restricts the rows, and project changes the columns of the aggregates, if
	// they are given.
	where   expr.Expr
	project []expr.Expr
}

// Questions are those of the benchmark.
var Questions = []Question{
	{Name: "q1", Text: "sum v1 by id1",
		SQL:  "select id1, sum(v1) from x group by id1",
		Keys: []string{"id1"}, aggregates: []group.Aggregate{group.Sum(v1).As("v1")}},
	{Name: "q2", Text: "sum v1 by id1:id2",
		SQL:  "select id1, id2, sum(v1) from x group by id1, id2",
		Keys: []string{"id1", "id2"}, aggregates: []group.Aggregate{group.Sum(v1).As("v1")}},
	{Name: "q3", Text: "sum v1 mean v3 by id3",
		SQL:  "select id3, sum(v1), avg(v3) from x group by id3",
		Keys: []string{"id3"}, aggregates: []group.Aggregate{group.Sum(v1).As("v1"), group.Mean(v3).As("v3")}},
	{Name: "q4", Text: "mean v1:v3 by id4",
		SQL:        "select id4, avg(v1), avg(v2), avg(v3) from x group by id4",
		Keys:       []string{"id4"},
		aggregates: []group.Aggregate{group.Mean(v1).As("v1"), group.Mean(v2).As("v2"), group.Mean(v3).As("v3")}},
	{Name: "q5", Text: "sum v1:v3 by id6",
		SQL:        "select id6, sum(v1), sum(v2), sum(v3) from x group by id6",
		Keys:       []string{"id6"},
		aggregates: []group.Aggregate{group.Sum(v1).As("v1"), group.Sum(v2).As("v2"), group.Sum(v3).As("v3")}},
	{Name: "q6", Text: "median v3 sd v3 by id4 id5",
		SQL:        "select id4, id5, quantile_cont(v3, 0.5), stddev(v3) from x group by id4, id5",
		Keys:       []string{"id4", "id5"},
		aggregates: []group.Aggregate{group.Median(v3).As("median_v3"), group.StdDev(v3, 1).As("sd_v3")}},
	{Name: "q7", Text: "max v1 - min v2 by id3",
		SQL:  "select id3, max(v1) - min(v2) from x group by id3",
		Keys: []string{"id3"}, aggregates: []group.Aggregate{group.Max(v1).As("most"), group.Min(v2).As("least")},
		project: []expr.Expr{expr.Col("most").Sub(expr.Col("least")).As("range_v1_v2")}},
	{Name: "q8", Text: "largest two v3 by id6",
		SQL:  "select id6, unnest(max(v3, 2)) from x where v3 is not null group by id6",
		Keys: []string{"id6"}, aggregates: []group.Aggregate{group.Largest(v3, 2).As("largest2_v3")}, where: v3.IsValid()},
	{Name: "q9", Text: "regression v1 v2 by id2 id4",
		SQL:  "select id2, id4, power(corr(v1, v2), 2) from x group by id2, id4",
		Keys: []string{"id2", "id4"}, aggregates: []group.Aggregate{group.Correlation(v1, v2).As("r")},
		project: []expr.Expr{expr.Col("r").Mul(expr.Col("r")).As("r2")}},
	{Name: "q10", Text: "sum v3 count by id1:id6",
		SQL:        "select id1, id2, id3, id4, id5, id6, sum(v3), count(*) from x group by all",
		Keys:       []string{"id1", "id2", "id3", "id4", "id5", "id6"},
		aggregates: []group.Aggregate{group.Sum(v3).As("v3"), group.CountAll().As("count")}},
}

// Answer computes the answer. The caller releases the answer.
func (q Question) Answer(ctx context.Context, x *buffer.Buffer) (*buffer.Buffer, error) {
	query := group.By(x, group.Columns(q.Keys...)...)
	if !q.where.IsZero() {
		query = query.Where(q.where)
	}
	aggregated, err := query.Aggregate(ctx, q.aggregates)
	if err != nil || q.project == nil {
		return aggregated, err
	}
	var columns []expr.Expr
	for _, key := range q.Keys {
		columns = append(columns, expr.Col(key))
	}
	projected, err := expr.Project(ctx, aggregated, append(columns, q.project...))
	return projected, errors.Join(err, aggregated.Release())
}
