package main

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

var v1, v2, v3 = expr.Col("v1"), expr.Col("v2"), expr.Col("v3")

// question is one of the benchmark.
type question struct {
	name, text string
	keys       []string
	aggregates []group.Aggregate
	// where restricts the rows, and project changes the columns of the aggregates, if
	// they are given.
	where   expr.Expr
	project []expr.Expr
}

var questions = []question{
	{name: "q1", text: "sum v1 by id1", keys: []string{"id1"}, aggregates: []group.Aggregate{group.Sum(v1).As("v1")}},
	{name: "q2", text: "sum v1 by id1:id2", keys: []string{"id1", "id2"}, aggregates: []group.Aggregate{group.Sum(v1).As("v1")}},
	{name: "q3", text: "sum v1 mean v3 by id3", keys: []string{"id3"}, aggregates: []group.Aggregate{group.Sum(v1).As("v1"), group.Mean(v3).As("v3")}},
	{name: "q4", text: "mean v1:v3 by id4", keys: []string{"id4"},
		aggregates: []group.Aggregate{group.Mean(v1).As("v1"), group.Mean(v2).As("v2"), group.Mean(v3).As("v3")}},
	{name: "q5", text: "sum v1:v3 by id6", keys: []string{"id6"},
		aggregates: []group.Aggregate{group.Sum(v1).As("v1"), group.Sum(v2).As("v2"), group.Sum(v3).As("v3")}},
	{name: "q6", text: "median v3 sd v3 by id4 id5", keys: []string{"id4", "id5"},
		aggregates: []group.Aggregate{group.Median(v3).As("median_v3"), group.StdDev(v3, 1).As("sd_v3")}},
	{name: "q7", text: "max v1 - min v2 by id3", keys: []string{"id3"}, aggregates: []group.Aggregate{group.Max(v1).As("most"), group.Min(v2).As("least")},
		project: []expr.Expr{expr.Col("most").Sub(expr.Col("least")).As("range_v1_v2")}},
	{name: "q8", text: "largest two v3 by id6", keys: []string{"id6"}, aggregates: []group.Aggregate{group.Largest(v3, 2).As("largest2_v3")}, where: v3.IsValid()},
	{name: "q9", text: "regression v1 v2 by id2 id4", keys: []string{"id2", "id4"}, aggregates: []group.Aggregate{group.Correlation(v1, v2).As("r")},
		project: []expr.Expr{expr.Col("r").Mul(expr.Col("r")).As("r2")}},
	{name: "q10", text: "sum v3 count by id1:id6", keys: []string{"id1", "id2", "id3", "id4", "id5", "id6"},
		aggregates: []group.Aggregate{group.Sum(v3).As("v3"), group.CountAll().As("count")}},
}

// answer computes the answer. The caller releases the answer.
func (q question) answer(ctx context.Context, x *buffer.Buffer) (*buffer.Buffer, error) {
	query := group.By(x, group.Columns(q.keys...)...)
	if !q.where.IsZero() {
		query = query.Where(q.where)
	}
	found, err := query.Aggregate(ctx, q.aggregates)
	if err != nil || q.project == nil {
		return found, err
	}
	var columns []expr.Expr
	for _, key := range q.keys {
		columns = append(columns, expr.Col(key))
	}
	projected, err := expr.Project(ctx, found, append(columns, q.project...))
	return projected, errors.Join(err, found.Release())
}
