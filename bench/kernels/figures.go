package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// columns are results that are released together.
type columns []*column.Column

func (c columns) Release() error {
	var errs []error
	for _, each := range c {
		errs = append(errs, each.Release())
	}
	return errors.Join(errs...)
}

// fused is the expression that all peers evaluate too.
func fused() expr.Expr {
	x, y := expr.Col("x"), expr.Col("y")
	return x.Mul(expr.Lit(2)).Add(y).Gt(expr.Lit(1)).And(x.Lt(y))
}

// Half of the rows are kept, and the bytes of their output count.
const (
	filterBytes = 8 + 1.0/8 + 4
	gatherWide  = 4 + 8 + 8
)

// figures are the operators, with the bars of large tables.
func (b *bench) figures(data *buffer.Buffer) []figure {
	half := expr.Col("v").Gt(expr.Lit(0.5))
	return append([]figure{
		{"add f32", 12, 0.95, []demand{{"torch add f32", 0}}, b.evaluate(data, expr.Col("x").Add(expr.Col("y")))},
		{"(x*2+y)>1 & (x<y) f32", 8 + 1.0/8, 0.90, []demand{{"torch fused", 3}, {"cupy fused", 1.8}}, b.evaluate(data, fused())},
		{"sum f32", 4, 0.93, []demand{{"torch sum f32", 0}, {"cub sum f32", 0}}, b.reduce(data, reduce.Sum(expr.Col("x")))},
		{"sum f32, nulls", 4 + 1.0/8, 0.93, nil, b.reduce(data, reduce.Sum(expr.Col("x null")))},
		{"sum f64", 8, 0.93, []demand{{"torch sum f64", 0}, {"cub sum f64", 0}}, b.reduce(data, reduce.Sum(expr.Col("v")))},
		{"sum f64, nulls", 8 + 1.0/8, 0.93, nil, b.reduce(data, reduce.Sum(expr.Col("v null")))},
		{"filter and sum f64", 8, 0.88, nil, b.reduce(data, reduce.Sum(expr.Col("v")).Where(half))},
		{"filter (f32) and sum f64", 12, 0.88, []demand{{"torch filter sum f64", 0}},
			b.reduce(data, reduce.Sum(expr.Col("v")).Where(expr.Col("x").Gt(expr.Lit(0.5))))},
		{"filter f64 by mask", filterBytes, 0.75, []demand{{"cub filter f64", 1.15}, {"torch filter f64", 1.9}, {"cupy filter f64", 0}},
			b.filterMask(data, "v")},
		{"filter f64 by expression", 8 + 4, 0, []demand{{"cub filter if f64", 0}}, b.filter(data, half, "v")},
		{fmt.Sprintf("filter %d f64 by mask", wideColumns), wideColumns*12 + 1.0/8, 0.75, nil, b.filterMask(data, wide()...)},
		{fmt.Sprintf("filter %d f64 by expression", wideColumns), wideColumns * 12, 0.75, nil,
			b.filter(data, expr.Col("w0").Gt(expr.Lit(0.5)), wide()...)},
		{"take f64, random", 44, 0, []demand{{"plain gather random f64", 1}, {"torch take random f64", 0}}, b.take(data, "random", selection.Null)},
		{"take f64, random, checked", 44, 0, []demand{{"plain gather random f64", 0}}, b.take(data, "random", selection.Check)},
		{"take f64, sorted", gatherWide, 0.80, []demand{{"plain gather sorted f64", 0}, {"torch take sorted f64", 0}}, b.take(data, "sorted", selection.Null)},
		{"cumulative sum f64", 16, 0, []demand{{"cub scan f64", 1}, {"torch cumsum f64", 1.15}}, b.cumulativeSum(data)},
		{"histogram, 256 bins of u32", 4, 0, []demand{{"cub histogram 256", 0}}, b.histogram(data)},
		{"top 100 f64", 8, 0, []demand{{"torch topk f64 100", 0}}, b.top(data)},
		{"cumulative max f64", 16, 0, nil, b.cumulativeMax(data, "v")},
		{"cumulative max i32, ascending", 8, 0, nil, b.cumulativeMax(data, "sorted")},
	}, b.narrow(data)...)
}

// narrow are expressions over columns of one and two bytes and of bits.
func (b *bench) narrow(data *buffer.Buffer) (figures []figure) {
	for _, integer := range []struct {
		name  string
		bytes float64
	}{{"int8", 1}, {"int16", 2}} {
		x, y, null := expr.Col("a "+integer.name), expr.Col("b "+integer.name), expr.Col("a "+integer.name+" null")
		figures = append(figures,
			figure{"add " + integer.name, 3 * integer.bytes, 0, nil, b.evaluate(data, x.Add(y))},
			figure{"add " + integer.name + ", nulls", 3*integer.bytes + 2.0/8, 0, nil, b.evaluate(data, null.Add(y))},
			figure{"compare " + integer.name, 2*integer.bytes + 1.0/8, 0, nil, b.evaluate(data, x.Gt(y))},
			figure{"compare " + integer.name + ", nulls", 2*integer.bytes + 3.0/8, 0, nil, b.evaluate(data, null.Gt(y))},
		)
	}
	mask, other := expr.Col("mask"), expr.Col("other mask")
	return append(figures,
		figure{"and of bool", 3.0 / 8, 0, nil, b.evaluate(data, mask.And(other))},
		figure{"not of bool", 2.0 / 8, 0, nil, b.evaluate(data, mask.Not())},
	)
}

func wide() []string {
	var names []string
	for i := range wideColumns {
		names = append(names, fmt.Sprintf("w%d", i))
	}
	return names
}

func (b *bench) evaluate(data *buffer.Buffer, e expr.Expr) work {
	expressions := []expr.Expr{e}
	return func(ctx context.Context) (releaser, error) {
		result, err := expr.Evaluate(ctx, data, expressions, b.options())
		return columns(result), err
	}
}

func (b *bench) reduce(data *buffer.Buffer, aggregates ...reduce.Aggregate) work {
	return func(ctx context.Context) (releaser, error) { return reduce.Table(ctx, data, aggregates, b.options()) }
}

// selected returns a table of some columns. Programs keep such a table, because facts
// about its schema are cached with it. The bench releases it.
func (b *bench) selected(data *buffer.Buffer, names []string) (*buffer.Buffer, error) {
	table, err := data.Select(names...)
	if err == nil {
		b.held = append(b.held, table)
	}
	return table, err
}

// release releases the tables of selected.
func (b *bench) release() error {
	var errs []error
	for _, table := range b.held {
		errs = append(errs, table.Release())
	}
	b.held = nil
	return errors.Join(errs...)
}

func (b *bench) filterMask(data *buffer.Buffer, names ...string) work {
	table, tableErr := b.selected(data, names)
	mask, maskErr := data.ColumnByName("mask")
	return func(ctx context.Context) (releaser, error) {
		if err := errors.Join(tableErr, maskErr); err != nil {
			return nil, err
		}
		return selection.FilterMask(ctx, table, mask, b.options())
	}
}

func (b *bench) filter(data *buffer.Buffer, predicate expr.Expr, names ...string) work {
	table, tableErr := b.selected(data, names)
	return func(ctx context.Context) (releaser, error) {
		if tableErr != nil {
			return nil, tableErr
		}
		return selection.Filter(ctx, table, predicate, b.options())
	}
}

// take takes rows by a column of indices. If the indices are checked, it waits for the
// result of the check.
func (b *bench) take(data *buffer.Buffer, indices string, bounds selection.Bounds) work {
	return func(ctx context.Context) (releaser, error) {
		values, err := data.ColumnByName("v")
		if err != nil {
			return nil, err
		}
		at, err := data.ColumnByName(indices)
		if err != nil {
			return nil, err
		}
		return selection.TakeColumnWith(ctx, values, at, selection.TakeOptions{Options: b.options(), Bounds: bounds})
	}
}

func (b *bench) cumulativeSum(data *buffer.Buffer) work {
	return func(ctx context.Context) (releaser, error) {
		values, err := data.ColumnByName("v")
		if err != nil {
			return nil, err
		}
		return window.CumulativeSum(ctx, values, window.Options{Options: b.options()})
	}
}

func (b *bench) cumulativeMax(data *buffer.Buffer, name string) work {
	return func(ctx context.Context) (releaser, error) {
		values, err := data.ColumnByName(name)
		if err != nil {
			return nil, err
		}
		return window.CumulativeMax(ctx, values, window.Options{Options: b.options()})
	}
}

func (b *bench) histogram(data *buffer.Buffer) work {
	return func(ctx context.Context) (releaser, error) {
		values, err := data.ColumnByName("byte")
		if err != nil {
			return nil, err
		}
		return group.Histogram(ctx, values, group.HistogramOptions{Options: b.options(), Bins: 256, Low: 0, High: 256})
	}
}

func (b *bench) top(data *buffer.Buffer) work {
	return func(ctx context.Context) (releaser, error) {
		values, err := data.ColumnByName("v")
		if err != nil {
			return nil, err
		}
		return order.TopKColumn(ctx, values, 100, order.TopOptions{Options: b.options()})
	}
}
