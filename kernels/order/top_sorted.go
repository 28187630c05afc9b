package order

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// topSorted finds the first k values of a column of any type by the sort.
func topSorted(ctx context.Context, c *column.Column, k int, options TopOptions) (*Top, error) {
	if options.Estimate != nil {
		return nil, errNoEstimate
	}
	scratch := options.Options
	scratch.Tag = scratchTag
	o, err := beginColumn(ctx, rowkey.Key{Column: c, Descending: !options.Smallest, NaNLast: true}, scratch)
	if err != nil {
		return nil, err
	}
	rows, err := o.first(int64(k), scratch)
	rows, err = release.OnError(rows, err, o.release())
	if err != nil {
		return nil, err
	}
	top, err := topAt(ctx, c, rows, options)
	return release.OnError(top, err, rows.Release())
}

// topAt returns the values of rows, and the rows of those that are not null.
func topAt(ctx context.Context, c, rows *column.Column, options TopOptions) (*Top, error) {
	values, err := selection.TakeColumnWith(ctx, c, rows, selection.TakeOptions{Options: options.Options, Bounds: selection.Trust})
	if err != nil {
		return nil, err
	}
	table, err := op.TableOf([]string{"row"}, []*column.Column{rows}, buffer.Rows{Count: int64(rows.Len()), Shared: rows.RowCount(), Manager: values.Manager()})
	if err != nil {
		return nil, errors.Join(err, values.Release())
	}
	wide, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Col("row").CastWrap(arrow.PrimitiveTypes.Int64)}, options.Options)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, values.Release())
	}
	// The bitmap of the values becomes that of the rows too.
	data := wide[0].Data()
	if values.NullCount() != 0 && values.NumBuffers() > 0 {
		data.Buffers = []column.Bytes{values.Buffer(0), data.Buffers[1]}
		data.NullCount = column.UnknownNullCount
	}
	places, err := column.New(data)
	if err = errors.Join(err, wide[0].Release()); err != nil {
		return nil, errors.Join(err, places.Release(), values.Release())
	}
	return &Top{values, places}, nil
}
