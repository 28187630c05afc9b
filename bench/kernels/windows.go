package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// windowFigure is a function of windows with the bytes that a row reads and writes at least.
type windowFigure struct {
	name         string
	bytes, reach float64
	windows      window.Windows
	function     window.Function
}

// releasers are results that are released together.
type releasers []releaser

// Release releases all of them.
func (r releasers) Release() error { return release.All(r) }

// windowsAll measures functions of windows: frames of rows, and functions by partitions of
// 1,024 rows, of a table in order and of one in no order, with the sort of the latter apart.
func (b *bench) windowsAll(ctx context.Context) (err error) {
	if err := b.copyRate(ctx); err != nil {
		return err
	}
	row := expr.Col("row")
	random := expr.Hash(row, expr.Lit(int64(7)))
	data, err := b.project(ctx, b.rows, func(int) []expr.Expr {
		return []expr.Expr{
			// Without operations that can give nulls, so that no column has a bitmap.
			row.BitAnd(expr.Lit(^int32(1023))).As("sorted"),
			random.BitAnd(expr.Lit(uint64(max(b.rows>>10, 1) - 1))).CastWrap(arrow.PrimitiveTypes.Int32).As("unsorted"),
			random.BitAnd(expr.Lit(uint64(1<<53 - 1))).CastWrap(arrow.PrimitiveTypes.Float64).Mul(expr.Lit(0x1p-53)).As("v"),
		}
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	t := table.New("function", "time", "Grows/s", "of reach", "bar", "against", "")
	by := func(name string) window.Windows {
		return window.Windows{PartitionBy: []order.Key{{Column: name}}}
	}
	v, bitmap := expr.Col("v"), 1.0/8
	figures := []windowFigure{
		{"mean of 100 rows", 16 + bitmap, 0.7, window.Windows{}, window.Mean(v).Rows(-99, 0)},
		{"maximum of 100 rows", 16 + bitmap, 0.5, window.Windows{}, window.Max(v).Rows(-99, 0)},
		{"mean of 100 rows by partitions", 20 + bitmap, 0, by("sorted"), window.Mean(v).Rows(-99, 0)},
		{"sum of 1,000 rows", 16 + bitmap, 0, window.Windows{}, window.Sum(v).Rows(-999, 0)},
		{"variance of 100 rows", 16 + bitmap, 0, window.Windows{}, window.Variance(v, 1).Rows(-99, 0)},
		{"median of 100 rows", 16 + bitmap, 0.05, window.Windows{}, window.Median(v).Rows(-99, 0)},
		{"row number, sorted", 4 + 8, 0.5, by("sorted"), window.RowNumber()},
		{"lag, sorted", 4 + 16 + bitmap, 0.5, by("sorted"), window.Lag(v, 1)},
		{"cumulative sum, sorted", 4 + 16 + bitmap, 0.5, by("sorted"), window.Sum(v).Rows(window.FirstRow, 0)},
		{"row number, unsorted", 4 + 8, 0, by("unsorted"), window.RowNumber()},
		{"lag, unsorted", 4 + 16 + bitmap, 0, by("unsorted"), window.Lag(v, 1)},
		{"cumulative sum, unsorted", 4 + 16 + bitmap, 0, by("unsorted"), window.Sum(v).Rows(window.FirstRow, 0)},
	}
	for _, f := range figures {
		if !b.match.MatchString(f.name) {
			continue
		}
		took, err := b.onDevice(ctx, func(ctx context.Context) (releaser, error) {
			columns, err := window.Over(ctx, data, f.windows, []window.Function{f.function}, b.options())
			var all releasers
			for _, c := range columns {
				all = append(all, c)
			}
			return all, err
		})
		if err != nil {
			t.Add(f.name, err.Error())
			continue
		}
		t.Add(b.line(figure{name: f.name, bytes: f.bytes, reach: f.reach}, b.rows, took)...)
	}
	if name := "the sort of the unsorted"; b.match.MatchString(name) {
		if err := b.sortOfWindows(ctx, t, name, data); err != nil {
			return err
		}
	}
	return show(fmt.Sprintf("Windows, %d rows; the device copies %.0f GB/s", b.rows, b.copied/1e9), t)
}

// sortOfWindows measures the sort that functions of unsorted partitions need.
func (b *bench) sortOfWindows(ctx context.Context, t *table.Table, name string, data *buffer.Buffer) error {
	took, err := b.onDevice(ctx, func(ctx context.Context) (releaser, error) {
		return order.Indices(ctx, data, []order.Key{{Column: "unsorted"}}, b.options())
	})
	if err != nil {
		return err
	}
	t.Add(b.line(figure{name: name, bytes: 4 + 4}, b.rows, took)...)
	return nil
}
