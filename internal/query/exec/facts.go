package exec

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
)

// Facts are facts of tables in memory. Nothing is known of columns that other libraries may write to, and of sources of
// several tables. Only passes for joins ask for them, so [UseJoins] makes them known.
type Facts struct{}

var _ plan.Facts = Facts{}

// IsUnique implements [plan.Facts]. It counts the values of a column of integers or dates once for all plans.
func (Facts) IsUnique(ctx context.Context, s source.Source, name string) (bool, error) {
	table := source.TableOf(s)
	if table == nil || integers.Load() == nil {
		return false, nil
	}
	c, err := table.ColumnByName(name)
	if err != nil || c.MayChange() || !isCounted(c.Type().ID()) {
		return false, nil
	}
	if c.Known().Unique == column.Unknown {
		if err := learnUnique(ctx, table, c, name); err != nil && !isShort(err) {
			return false, err
		}
	}
	return source.NeedUnique(s, name), nil
}

// isCounted reports whether the values of a type are counted.
func isCounted(t arrow.Type) bool {
	return arrow.IsInteger(t) || t == arrow.DATE32 || t == arrow.DATE64 || t == arrow.TIMESTAMP
}

// learnUnique counts the rows and the different values of a column.
func learnUnique(ctx context.Context, table *buffer.Buffer, c *column.Column, name string) error {
	counts, err := (*integers.Load())(ctx, table, group.CountAll(), group.CountDistinct(expr.Col(name)))
	if err != nil {
		return err
	}
	c.LearnUnique(map[bool]column.Answer{true: column.Yes, false: column.No}[counts[0] == counts[1]])
	return nil
}

// Span implements [plan.Facts]. It finds the bounds of a column of integers of up to 64 bits with a sign.
func (Facts) Span(ctx context.Context, s source.Source, name string) (span uint64, ok bool, err error) {
	table := source.TableOf(s)
	if table == nil || integers.Load() == nil {
		return 0, false, nil
	}
	c, err := table.ColumnByName(name)
	if err != nil || c.MayChange() || !arrow.IsInteger(c.Type().ID()) || c.Type().ID() == arrow.UINT64 {
		return 0, false, nil
	}
	bounds, known := c.Bounds()
	if !known {
		value := expr.Col(name).Cast(arrow.PrimitiveTypes.Int64)
		extremes, err := (*integers.Load())(ctx, table, group.Min(value), group.Max(value))
		if isShort(err) {
			return 0, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		bounds = column.Bounds{Least: uint64(extremes[0]), Greatest: uint64(extremes[1])}
		if extremes[0] <= extremes[1] {
			c.LearnBounds(bounds)
		}
	}
	return bounds.Greatest - bounds.Least + 1, true, nil
}

// integers is integersOf in programs that join.
var integers atomic.Pointer[func(context.Context, *buffer.Buffer, ...group.Aggregate) ([]int64, error)]

// integersOf returns the values of two aggregates of integers of all rows. A null is 0.
func integersOf(ctx context.Context, table *buffer.Buffer, aggregates ...group.Aggregate) (list []int64, err error) {
	for i := range aggregates {
		aggregates[i] = aggregates[i].As(strconv.Itoa(i))
	}
	key := group.Key{Expr: expr.LitOf(arrow.PrimitiveTypes.Int8, int8(0)), Name: "all"}
	result, err := group.By(table, key).Aggregate(ctx, aggregates, group.ByOptions{Options: kernels.Options{Tag: "facts"}, MaxGroups: 1})
	if err != nil {
		return nil, err
	}
	record, err := result.Record(ctx)
	if err = errors.Join(err, result.Release()); err != nil {
		return nil, err
	}
	defer record.Release()
	list = make([]int64, len(aggregates))
	if record.NumRows() > 0 {
		for i := range list {
			if values := record.Column(1 + i).(*array.Int64); values.IsValid(0) {
				list[i] = values.Value(0)
			}
		}
	}
	return list, nil
}
