package pipelinetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Ordered accepts the types whose values have an order.
func Ordered(t arrow.DataType) bool { return rowkey.Check(t, 0) == nil }

// keys draws one to three keys.
func (d *Draw) keys() (keys []order.Key, ok bool) {
	for range 1 + d.IntN(3) {
		i, ok := d.Column(Ordered)
		if !ok {
			return nil, false
		}
		keys = append(keys, order.Key{Column: d.Schema.Field(i).Name, Descending: d.IntN(2) == 0, NullsFirst: d.IntN(3) == 0})
	}
	return keys, true
}

// byKeys is an operator on a table and keys.
func byKeys(name string, apply func(ctx context.Context, choice int, in Inputs, keys []order.Key, as string) (*buffer.Buffer, error)) Operator {
	return Operator{name, func(d *Draw) (string, Run, bool) {
		keys, ok := d.keys()
		if !ok {
			return "", nil, false
		}
		as, choice := d.Name(), d.IntN(1<<20)
		return fmt.Sprintf("%s(%+v, choice %d) as %s", name, keys, choice, as), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return apply(ctx, choice, in, keys, as)
		}, true
	}}
}

// exact returns a table whose number of rows the host knows.
func exact(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	n, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	return table.Slice(0, n)
}

// orders are the operators of package order.
var orders = []Operator{
	byKeys("sort", func(ctx context.Context, _ int, in Inputs, keys []order.Key, _ string) (*buffer.Buffer, error) {
		return order.Sort(ctx, in.Table, keys, in.Options)
	}),
	byKeys("indices", func(ctx context.Context, _ int, in Inputs, keys []order.Key, _ string) (*buffer.Buffer, error) {
		rows, err := order.Indices(ctx, in.Table, keys, in.Options)
		if err != nil {
			return nil, err
		}
		taken, err := selection.Take(ctx, in.Table, rows, in.Options)
		return taken, errors.Join(err, rows.Release())
	}),
	byKeys("rank", func(ctx context.Context, choice int, in Inputs, keys []order.Key, as string) (*buffer.Buffer, error) {
		ranks, err := order.Rank(ctx, in.Table, keys, order.RankOptions{Options: in.Options, Method: order.Method(choice % 5)})
		return appended(in.Table, as, ranks, err)
	}),
	byKeys("first rows", func(ctx context.Context, choice int, in Inputs, keys []order.Key, _ string) (*buffer.Buffer, error) {
		return order.TopK(ctx, in.Table, int64(choice%40), keys, in.Options)
	}),
	byKeys("search", func(ctx context.Context, choice int, in Inputs, keys []order.Key, as string) (*buffer.Buffer, error) {
		sorted, err := order.Sort(ctx, in.Table, keys, in.Options)
		if err != nil {
			return nil, err
		}
		places, err := order.Search(ctx, sorted, in.Table, keys, order.SearchOptions{Options: in.Options, Upper: choice%2 == 0})
		if err = errors.Join(err, sorted.Release()); err != nil {
			return nil, errors.Join(err, places.Release())
		}
		table, err := exact(ctx, in.Table)
		if err != nil {
			return nil, errors.Join(err, places.Release())
		}
		wider, err := appended(table, as, places, nil)
		return wider, errors.Join(err, table.Release())
	}),
	byKeys("merge", func(ctx context.Context, _ int, in Inputs, keys []order.Key, _ string) (*buffer.Buffer, error) {
		sorted, err := order.Sort(ctx, in.Table, keys, in.Options)
		if err != nil {
			return nil, err
		}
		merged, err := order.Merge(ctx, []*buffer.Buffer{sorted, sorted}, keys, order.MergeOptions{Options: in.Options})
		return merged, errors.Join(err, sorted.Release())
	}),
	byKeys("partition", func(ctx context.Context, choice int, in Inputs, keys []order.Key, _ string) (*buffer.Buffer, error) {
		bounds, err := order.TopK(ctx, in.Table, int64(choice%5), keys, in.Options)
		if err != nil {
			return nil, err
		}
		partitioned, err := order.Partition(ctx, in.Table, bounds, keys, in.Options)
		if err = errors.Join(err, bounds.Release()); err != nil {
			return nil, errors.Join(err, partitioned.Release())
		}
		return partitioned.Rows, partitioned.Offsets.Release()
	}),
	onColumn("sort column", Ordered, func(ctx context.Context, choice int, in Inputs, c *column.Column, as string) (*buffer.Buffer, error) {
		sorted, err := order.SortColumn(ctx, c, order.ColumnOptions{Options: in.Options, Descending: choice%2 == 0, NullsFirst: choice%3 == 0})
		return appended(in.Table, as, sorted, err)
	}),
}
