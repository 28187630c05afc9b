package pipelinetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
)

var integer = Is(arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64)

// windows are the functions of the rows around a row.
var windows = []Operator{
	{"over", drawOver},
	{"session", drawSession},
	{"resample", drawResample},
}

// windowsOf draws up to one key of partitions and up to two of the order.
func (d *Draw) windowsOf() (w window.Windows) {
	if i, ok := d.Column(Ordered); ok && d.IntN(3) > 0 {
		w.PartitionBy = []order.Key{{Column: d.Schema.Field(i).Name}}
	}
	if keys, ok := d.keys(); ok && d.IntN(4) > 0 {
		w.OrderBy = keys[:min(len(keys), 2)]
	}
	return w
}

// windowFunctions draws functions of windows. Those of floats that depend on the order of
// additions have the values of integers.
func (d *Draw) windowFunctions() (functions []window.Function) {
	for range 1 + d.IntN(3) {
		functions = append(functions, d.windowFunction())
	}
	return functions
}

func (d *Draw) windowFunction() window.Function {
	places := []window.Function{window.RowNumber(), window.Rank(), window.DenseRank(), window.PercentRank(), window.CumulativeDistribution(), window.Tile(int64(1 + d.IntN(5)))}
	i, ok := d.Column(Any)
	if !ok || d.IntN(4) == 0 {
		return places[d.IntN(len(places))]
	}
	any := expr.Col(d.Schema.Field(i).Name)
	shifts := []window.Function{window.Lag(any, int64(d.IntN(4))), window.Lead(any, int64(d.IntN(4)))}
	framed := []window.Function{window.First(any), window.Last(any), window.Nth(any, int64(1+d.IntN(3))), window.Count(any), window.CountAll()}
	if i, ok := d.Column(Ordered); ok {
		framed = append(framed, window.Min(expr.Col(d.Schema.Field(i).Name)), window.Max(expr.Col(d.Schema.Field(i).Name)))
	}
	if i, ok := d.Column(integer); ok {
		v := expr.Col(d.Schema.Field(i).Name)
		small := v.Mod(expr.Lit(int8(10)))
		framed = append(framed, window.Sum(v), window.Product(v), window.Mean(small), window.Quantile(small, d.Float64()), window.Median(v))
	}
	switch d.IntN(4) {
	case 0:
		f := shifts[d.IntN(len(shifts))]
		if d.IntN(2) == 0 {
			f = f.SkipNulls()
		}
		return f
	case 1:
		return framed[d.IntN(len(framed))]
	case 2:
		return framed[d.IntN(len(framed))].Rows(window.FirstRow, int64(d.IntN(3)))
	}
	low := int64(d.IntN(9) - 6)
	return framed[d.IntN(len(framed))].Rows(low, low+int64(d.IntN(6)))
}

func drawOver(d *Draw) (string, Run, bool) {
	w, functions := d.windowsOf(), d.windowFunctions()
	names := make([]string, len(functions))
	for i := range names {
		names[i] = d.Name()
	}
	return fmt.Sprintf("over(%+v, %v) as %v", w, functions, names), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
		return withWindows(ctx, in, in.Table, w, functions, names)
	}, true
}

// withWindows returns a table with the values of functions of windows.
func withWindows(ctx context.Context, in Inputs, table *buffer.Buffer, w window.Windows, functions []window.Function, names []string) (*buffer.Buffer, error) {
	values, err := window.Over(ctx, table, w, functions, in.Options)
	if err != nil {
		return nil, err
	}
	fields, columns := table.Schema().Fields(), make([]*column.Column, 0, table.NumColumns()+len(values))
	for i := range table.NumColumns() {
		columns = append(columns, table.Column(i))
	}
	for i, c := range values {
		fields = append(fields, arrow.Field{Name: names[i], Type: c.Type(), Nullable: true})
	}
	wider, err := buffer.New(arrow.NewSchema(fields, nil), append(columns, values...), table.Rows())
	return release.OnError(wider, err, release.All(values))
}

// drawSession numbers the rows of each partition that are close to the row before: a sum of
// the distances that are large.
func drawSession(d *Draw) (string, Run, bool) {
	i, ok := d.Column(integer)
	if !ok {
		return "", nil, false
	}
	w, before, as, gap := d.windowsOf(), d.Name(), d.Name(), d.IntN(100)
	at := expr.Col(d.Schema.Field(i).Name)
	w.OrderBy = []order.Key{{Column: d.Schema.Field(i).Name}}
	return fmt.Sprintf("session(%v, gap %d, %+v) as %s", at, gap, w, as), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
		lagged, err := withWindows(ctx, in, in.Table, w, []window.Function{window.Lag(at, 1)}, []string{before})
		if err != nil {
			return nil, err
		}
		begins := expr.If(at.Sub(expr.Col(before)).Le(expr.Lit(gap)).FillNull(expr.Lit(false)), expr.Lit(int64(0)), expr.Lit(int64(1)))
		numbered, err := withWindows(ctx, in, lagged, w, []window.Function{window.Sum(begins).Rows(window.FirstRow, 0)}, []string{as})
		return release.OnError(numbered, err, lagged.Release())
	}, true
}

// drawResample counts the rows of windows of equal length, those without rows included.
func drawResample(d *Draw) (string, Run, bool) {
	i, ok := d.Column(integer)
	if !ok {
		return "", nil, false
	}
	const begin, count, next, step, most = "begin", "count", "next", "step", 60
	every := int64(1 + d.IntN(9))
	at := expr.Col(d.Schema.Field(i).Name).Cast(arrow.PrimitiveTypes.Int64).Mod(expr.Lit(int64(most)))
	floor := at.Sub(at.Mod(expr.Lit(every)).Add(expr.Lit(every)).Mod(expr.Lit(every)))
	return fmt.Sprintf("resample(%v, %d)", at, every), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
		groups, err := group.By(in.Table, group.Key{Name: begin, Expr: floor}).Aggregate(ctx, []group.Aggregate{group.CountAll().As(count)},
			group.ByOptions{Options: in.Options, Order: group.ByKey, Nulls: group.DropNulls})
		if err != nil {
			return nil, err
		}
		following, err := withWindows(ctx, in, groups, window.Windows{OrderBy: []order.Key{{Column: begin}}}, []window.Function{window.Lead(expr.Col(begin), 1)}, []string{next})
		if err = errors.Join(err, groups.Release()); err != nil {
			return nil, errors.Join(err, following.Release())
		}
		windows := expr.Col(next).Sub(expr.Col(begin)).Div(expr.Lit(every)).FillNull(expr.Lit(int64(1)))
		lists, err := expr.Project(ctx, following, []expr.Expr{expr.Col(begin), expr.Col(count), nested.Sequence(windows).As(step)}, in.Options)
		if err = errors.Join(err, following.Release()); err != nil {
			return nil, errors.Join(err, lists.Release())
		}
		rows, err := nested.Explode(ctx, lists, []string{step}, nested.ExplodeOptions{Options: in.Options})
		if err = errors.Join(err, lists.Release()); err != nil {
			return nil, errors.Join(err, rows.Release())
		}
		isFirst := expr.Col(step).Eq(expr.Lit(int64(0)))
		resampled, err := expr.Project(ctx, rows, []expr.Expr{expr.Col(begin).Add(expr.Col(step).Mul(expr.Lit(every))).As(begin),
			expr.If(isFirst, expr.Col(count), expr.Null(arrow.PrimitiveTypes.Int64)).As(count)}, in.Options)
		return release.OnError(resampled, err, rows.Release())
	}, true
}
