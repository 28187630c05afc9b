package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/random"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Frames are the rows of the frame of each row, for functions that package window does not have: the places First, First + 1, …
// in the order of the windows, Count of them.
type Frames struct {
	// First and Count have a value for each row of the table, int64. First is null if Count is 0.
	First, Count *column.Column
	// Rows has the number of the row of each place, uint32 or int64.
	Rows *column.Column
}

// Release releases the columns.
func (f *Frames) Release() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.First.Release(), f.Count.Release(), f.Rows.Release())
}

// FramesOf returns the frame that a function such as CountAll().Rows(-6, 0) has in each row of a table. The caller releases
// the result. It waits as [Over] does, and has its errors.
func FramesOf(ctx context.Context, table *buffer.Buffer, windows Windows, framed Function, options ...kernels.Options) (*Frames, error) {
	only, err := op.Only(options)
	if err == nil {
		err = table.Check()
	}
	var f *Frames
	if err == nil {
		f, err = framesOf(ctx, table, windows, framed.frame, only)
	}
	if err != nil {
		return nil, fmt.Errorf("window: frames: %w", err)
	}
	return f, nil
}

func framesOf(ctx context.Context, table *buffer.Buffer, windows Windows, frame Frame, options kernels.Options) (f *Frames, err error) {
	if options.Estimate != nil {
		return nil, errNoEstimate
	}
	if options.Manager == nil {
		options.Manager = table.Manager()
	}
	count, least := Function{kind: countRows, value: expr.Lit(true), frame: frame}, Function{kind: minimumOf, value: expr.Lit(int64(0)), frame: frame}
	if _, err := count.Type(table.Schema(), windows); err != nil {
		return nil, &FunctionError{0, count, err}
	}
	a, err := arrange(ctx, table, windows, options)
	if err != nil {
		return nil, err
	}
	var columns release.Stack
	defer func() {
		if err = errors.Join(err, a.release()); err != nil {
			f, err = nil, errors.Join(err, columns.Release())
		}
	}()
	rows, places, err := a.listPlaces()
	if err != nil {
		return nil, err
	}
	columns.Add(rows)
	first, err := a.computeOf(least, places, arrow.PrimitiveTypes.Int64)
	if err = errors.Join(err, places.Release()); err != nil {
		return nil, errors.Join(err, first.Release())
	}
	columns.Add(first)
	counts, err := a.compute(count)
	if err != nil {
		return nil, err
	}
	return &Frames{First: first, Count: counts, Rows: rows}, nil
}

// listPlaces returns the rows of the places, and the places of the rows as int64.
func (a *arrangement) listPlaces() (rows, places *column.Column, err error) {
	if a.listed.Len() == 0 {
		if rows, err = random.Numbers(a.ctx, a.capacity, random.Options{Options: a.options, Rows: a.table.RowCount()}); err != nil {
			return nil, nil, err
		}
		return rows, rows, rows.Retain()
	}
	if rows, err = selection.RowNumbers(a.listed, a.table.RowCount()); err != nil {
		return nil, nil, err
	}
	table, err := a.tableOf([]string{"row"}, []*column.Column{rows})
	if err != nil {
		return nil, nil, errors.Join(err, rows.Release())
	}
	inverse, err := order.Indices(a.ctx, table, []order.Key{{Column: "row"}}, a.scratch())
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, nil, errors.Join(err, inverse.Release(), rows.Release())
	}
	places, err = a.computed([]string{"place"}, []*column.Column{inverse}, expr.Col("place").Cast(arrow.PrimitiveTypes.Int64))
	if err = errors.Join(err, inverse.Release()); err != nil {
		return nil, nil, errors.Join(err, places.Release(), rows.Release())
	}
	return rows, places, nil
}
