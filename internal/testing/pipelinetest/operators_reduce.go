package pipelinetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/reduce"
)

// reductions make small tables from large ones.
var reductions = []Operator{
	{"reduce", func(d *Draw) (string, Run, bool) {
		functions := []func(expr.Expr) reduce.Aggregate{
			reduce.Sum, reduce.Product, reduce.Min, reduce.Max, reduce.Mean, reduce.Count, reduce.CountNull, reduce.ArgMin, reduce.ArgMax,
			func(e expr.Expr) reduce.Aggregate { return reduce.Variance(e, 1) },
		}
		aggregates := []reduce.Aggregate{reduce.CountAll().As(d.Name())}
		for range 1 + d.IntN(3) {
			a := functions[d.IntN(len(functions))](d.Number(1))
			if d.IntN(3) == 0 {
				a = a.Where(d.Condition(1))
			}
			aggregates = append(aggregates, a.As(d.Name()))
		}
		return fmt.Sprintf("reduce(%v)", aggregates), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return reduce.Table(ctx, in.Table, aggregates, in.Options)
		}, true
	}},
	onColumn("reduce column", Any, func(ctx context.Context, choice int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		functions := []func(expr.Expr) reduce.Aggregate{reduce.Sum, reduce.Min, reduce.Max, reduce.Count, reduce.CountNull, reduce.ArgMax}
		reduced, err := reduce.Column(ctx, c, functions[choice%len(functions)], in.Options)
		return alone(as, reduced, err)
	}),
	onColumn("histogram", numericOrTemporal, func(ctx context.Context, choice int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		histogram, err := group.Histogram(ctx, c, group.HistogramOptions{Options: in.Options, Bins: 1 + choice%7, Low: -3, High: float64(choice % 100), CountOutside: choice%2 == 0})
		return alone(as, histogram, err)
	}),
	onColumn("count integers", numericOrTemporal, func(ctx context.Context, choice int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		counts, err := group.CountIntegers(ctx, c, int64(choice%5)-4, 1+choice%9, group.HistogramOptions{Options: in.Options})
		return alone(as, counts, err)
	}),
	onColumn("top", numericOrTemporal, func(ctx context.Context, choice int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		top, err := order.TopKColumn(ctx, c, choice%20, order.TopOptions{Options: in.Options, Smallest: choice%3 == 0})
		if err != nil {
			return nil, err
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: as, Type: c.Type(), Nullable: true}, {Name: as + " row", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
		table, err := buffer.New(schema, []*column.Column{top.Values, top.Rows}, buffer.Rows{Count: int64(top.Rows.Len()), Manager: in.Manager})
		return table, errors.Join(err, top.Release())
	}),
}

func numericOrTemporal(t arrow.DataType) bool { return numeric(t) || temporal(t) }
