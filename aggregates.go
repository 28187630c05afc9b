package gpuframe

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// aggregate returns the expression of an aggregate or a window function of values. It has the name of
// the first value, or that of the function.
func aggregate(aggregation plan.Aggregation, values ...Expr) Expr {
	computed := apply(func(list []expr.Expr) expr.Expr {
		aggregation.Values = list
		return bind.RowsFunction{Aggregation: aggregation}.Tree()
	}, values...)
	if len(values) == 0 {
		computed.root = aggregation.Function
	}
	return computed
}

// windowFunction returns an expression of a function of the place of a row.
func windowFunction(function plan.Aggregation, values ...Expr) Expr {
	exec.UseWindows()
	return aggregate(function, values...)
}

// Where restricts the aggregates of an expression to the rows in which a condition is
// true. Several conditions must all be true. An expression without aggregates becomes an
// error when the query is bound.
func (e Expr) Where(condition Expression) Expr {
	c := conditionOf(condition)
	e.misuse = joinMisuse(e.misuse, c.misuse)
	return e.eachAggregate(func(f *bind.RowsFunction) {
		where := &f.Aggregation.Where
		if where.IsZero() {
			*where = c.tree
		} else {
			*where = where.And(c.tree)
		}
	})
}

// SkipNulls makes First, Last, Nth, List, Lag and Lead skip rows in which the value is null, as IGNORE
// NULLS in SQL: x.Last().SkipNulls() is the last value that is not null. It comes before Over. Other
// aggregates always skip nulls: with it they become an error when the query is bound.
func (e Expr) SkipNulls() Expr {
	changed := false
	skipping := e.eachAggregate(func(f *bind.RowsFunction) { f.Aggregation.SkipNulls, changed = true, true })
	if !changed && len(skipping.misuse) == 0 {
		skipping.misuse = []error{fmt.Errorf("%v is a window: call SkipNulls before Over", e)}
	}
	return skipping
}

// OrderBy makes the aggregates of an expression read their rows in an order: x.First().OrderBy(ts.Desc()) is the value
// of the latest row, also of several aggregates with different orders in one Agg. Of rows with equal keys the first one
// comes first. It is for First, Last, List, JoinStrings, AnyValue and Mode, and comes before Over; others become an
// error when the query is bound. Only First and Last with it can be windows: Agg and Join make the others those of rows. Distinct values are those of [Expr.ListUnique]: x.List().OrderBy(x).ListUnique().
func (e Expr) OrderBy(keys ...Ordering) Expr {
	if !e.tree.ReadsRows() {
		e.misuse = []error{fmt.Errorf("OrderBy applies to aggregates, and %v has none: Query.Sort orders rows", e)}
		return e
	}
	for _, o := range orders(keys) {
		e.misuse = joinMisuse(e.misuse, o.Key.Misuse)
	}
	e.tree = bind.InOrder(e.tree, orders(keys))
	return e
}

// eachAggregate changes the aggregates of an expression that are not windows yet.
func (e Expr) eachAggregate(change func(f *bind.RowsFunction)) Expr {
	return e.onAggregates(func(tree expr.Expr) expr.Expr { return bind.EachFunction(tree, change) })
}

// onAggregates changes an expression that has aggregates.
func (e Expr) onAggregates(change func(tree expr.Expr) expr.Expr) Expr {
	if !e.tree.ReadsRows() {
		e.misuse = []error{fmt.Errorf("Where, SkipNulls and Over apply to aggregates, and %v has none", e)}
		return e
	}
	e.tree = change(e.tree)
	return e
}
