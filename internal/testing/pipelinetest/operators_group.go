package pipelinetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// groupings aggregate groups of rows.
var groupings = []Operator{
	{"group", func(d *Draw) (string, Run, bool) {
		keys, ok := d.groupKeys()
		if !ok {
			return "", nil, false
		}
		aggregates := d.aggregates()
		options := group.ByOptions{Nulls: group.Nulls(d.IntN(2)), Order: group.Order(d.IntN(3))}
		where, filtered := d.Condition(1), d.IntN(3) == 0
		text := fmt.Sprintf("group(%v by %v, %+v, where %v %v)", aggregates, keys, options, filtered, where)
		return text, func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			query := group.By(in.Table, keys...)
			if filtered {
				query = query.Where(where)
			}
			options.Options = in.Options
			groups, err := query.Aggregate(ctx, aggregates, options)
			if err != nil || options.Order != group.Unspecified {
				return groups, err
			}
			sorted, err := sortedByKeys(ctx, groups, keys, in.Options)
			return release.OnError(sorted, err, groups.Release())
		}, true
	}},
	{"group in parts", func(d *Draw) (string, Run, bool) {
		keys, ok := d.groupKeys()
		if !ok {
			return "", nil, false
		}
		aggregates := d.aggregates()
		return fmt.Sprintf("group in parts(%v by %v)", aggregates, keys), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			partial, err := group.By(in.Table, keys...).Partial(ctx, aggregates, group.ByOptions{Options: in.Options})
			if err != nil {
				return nil, err
			}
			merged, err := group.Merge(ctx, in.Table.Schema(), []*buffer.Buffer{partial, partial}, aggregates, group.ByOptions{Options: in.Options, Order: group.ByKey})
			return merged, errors.Join(err, partial.Release())
		}, true
	}},
	{"transform", func(d *Draw) (string, Run, bool) {
		keys, ok := d.groupKeys()
		if !ok {
			return "", nil, false
		}
		aggregates := d.aggregates()
		return fmt.Sprintf("transform(%v by %v)", aggregates, keys), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return group.By(in.Table, keys...).Transform(ctx, aggregates, group.ByOptions{Options: in.Options})
		}, true
	}},
}

// sortedByKeys sorts groups: their order differs between devices if it is not specified.
func sortedByKeys(ctx context.Context, groups *buffer.Buffer, keys []group.Key, options kernels.Options) (*buffer.Buffer, error) {
	by := make([]order.Key, len(keys))
	for i, key := range keys {
		by[i].Column = key.Name
	}
	return order.Sort(ctx, groups, by, options)
}

// groupKeys draws one or two columns as keys.
func (d *Draw) groupKeys() ([]group.Key, bool) {
	var keys []group.Key
	for range 1 + d.IntN(2) {
		i, ok := d.Column(func(t arrow.DataType) bool {
			return numeric(t) || temporal(t) || textual(t) || Is(arrow.BOOL, arrow.DICTIONARY)(t)
		})
		if !ok {
			return nil, false
		}
		keys = append(keys, group.Key{Column: d.Schema.Field(i).Name, Name: d.Name()})
	}
	return keys, true
}

// aggregates draws some aggregates of numbers.
func (d *Draw) aggregates() []group.Aggregate {
	functions := []func(expr.Expr) group.Aggregate{
		group.Sum, group.Min, group.Max, group.Mean, group.Count, group.CountNull, group.First, group.Last, group.Mode, group.Median,
		func(e expr.Expr) group.Aggregate { return group.First(e).SkipNulls() },
		func(e expr.Expr) group.Aggregate { return group.Last(e).SkipNulls() },
		func(e expr.Expr) group.Aggregate { return group.Variance(e, 1) },
		func(e expr.Expr) group.Aggregate { return group.CountDistinct(e) },
	}
	aggregates := []group.Aggregate{group.CountAll().As(d.Name())}
	for range 1 + d.IntN(2) {
		a := functions[d.IntN(len(functions))](d.Number(1))
		if d.IntN(3) == 0 {
			a = a.Where(d.Condition(1))
		}
		aggregates = append(aggregates, a.As(d.Name()))
	}
	return aggregates
}
