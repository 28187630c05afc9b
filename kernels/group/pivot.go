package group

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Pivot returns a row for each group and a column for each of the given values of an
// expression: the aggregate of the rows of the group in which the expression has the value.
// The values are those of expr.Lit, and name the columns. A nil value selects the rows in
// which the expression is null.
//
//	byMonth, err := group.By(sales, group.Columns("city")...).
//		Pivot(ctx, expr.Col("month"), []any{"Jan", "Feb", "Mar"}, group.Sum(expr.Col("amount")))
//
// It waits like [Query.Aggregate]. The caller releases the result.
func (q Query) Pivot(ctx context.Context, on expr.Expr, values []any, aggregate Aggregate, options ...ByOptions) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err == nil && len(values) == 0 {
		err = fmt.Errorf("no value is given, expected one or more: %w", device.ErrInvalidValue)
	}
	var table *buffer.Buffer
	if err == nil {
		aggregates := make([]Aggregate, len(values))
		for i, value := range values {
			condition := on.IsNull()
			if value != nil {
				condition = on.Eq(expr.Lit(value))
			}
			aggregates[i] = aggregate.Where(condition).As(fmt.Sprint(value))
		}
		table, err = q.aggregate(ctx, aggregates, only)
	}
	if err != nil {
		return nil, fmt.Errorf("group: pivot: %w", err)
	}
	return table, nil
}
