package order

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// ColumnOptions configure [SortColumn].
type ColumnOptions struct {
	kernels.Options
	// Descending puts large values first.
	Descending bool
	// NullsFirst puts nulls before all values, instead of after them.
	NullsFirst bool
}

// SortColumn returns the values of a column in order. Of equal floats, −0 comes before 0
// in ascending order; the order of NaNs with different bits is fixed, and not specified.
// The column has the row count of c. The caller releases it.
//
// Numbers are faster to sort with SortColumn than as a table, because no row numbers are
// moved.
//
// # Waiting
//
// SortColumn waits when [Sort] does.
//
// # Errors
//
// The error wraps device.ErrNotSupported for values without an order, and [ErrTooLong]
// for more than [MaxRows] rows.
func SortColumn(ctx context.Context, c *column.Column, options ...ColumnOptions) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: sort column: %w", err)
	}
	sorted, err := sortColumn(ctx, c, only)
	if err != nil {
		return nil, fmt.Errorf("order: sort column: %w", err)
	}
	return sorted, nil
}

func sortColumn(ctx context.Context, c *column.Column, options ColumnOptions) (*column.Column, error) {
	o, err := beginColumn(ctx, rowkey.Key{
		Column: c, Descending: options.Descending, NullsFirst: options.NullsFirst, Reversible: true,
	}, options.Options)
	if err != nil {
		return nil, err
	}
	sorted, err := o.sortedColumn(options.Options)
	return release.OnError(sorted, err, o.release())
}

// sortedColumn sorts the only column.
func (o *ordering) sortedColumn(options kernels.Options) (*column.Column, error) {
	c := o.columns[0]
	if !o.call.OnHost() {
		if sorted, ok, err := o.columnOnDevice(); ok || err != nil {
			return sorted, err
		}
	} else if o.plan.Reversible() {
		return o.columnOnHost()
	}
	if o.call.Estimating() {
		return nil, errNoEstimate
	}
	rows, err := o.indices()
	if err != nil {
		return nil, err
	}
	taken, err := selection.TakeColumnWith(o.call.Context(), c, rows, selection.TakeOptions{Options: options, Bounds: selection.Trust, Distinct: true})
	return release.OnError(taken, err, rows.Release())
}

// columnOnHost sorts words and decodes them.
func (o *ordering) columnOnHost() (*column.Column, error) {
	result := o.result(o.columns[0].Type())
	result.Nullable = o.plan.Sources[0].Nullable
	scratch := hostScratch(o.capacity)[:2]
	if o.call.Estimating() {
		sizes := result.Sizes()
		return nil, o.call.Estimate(sizes[:], scratch)
	}
	return o.newColumn(result, func(out op.Buffers) error {
		block, buffers, err := o.call.Scratch(scratch...)
		if err != nil {
			return err
		}
		return releasedAfter(block, func() error { return o.sortValues(buffers, out) })
	})
}

// sortValues sorts the words of a reversible plan and writes their values.
func (o *ordering) sortValues(scratch []memory.Slice[uint8], out op.Buffers) error {
	host, err := rowkey.NewHost(o.plan)
	if err != nil {
		return err
	}
	keys, keysErr := words(scratch[0])
	spare, spareErr := words(scratch[1])
	to, outErr := out.Host()
	if err := errors.Join(keysErr, spareErr, outErr); err != nil {
		return err
	}
	ctx, n, count := o.call.Context(), o.rows, parallel.Parts(o.rows)
	clear(to.Values)
	var nulls atomic.Int64
	err = parallel.Run(ctx, n, count, func(_, begin, end int) {
		host.Encode(0, 0, rowkey.Rows{First: begin}, keys[begin:end])
		nulls.Add(int64(host.CountNulls(0, begin, end-begin)))
	})
	if err != nil {
		return err
	}
	if err := radixSort(ctx, pairs{keys: keys[:n]}, pairs{keys: spare[:n]}, count); err != nil {
		return err
	}
	return parallel.Run(ctx, n, count, func(_, begin, end int) { o.plan.Decode(keys[:n], int(nulls.Load()), begin, end, to) })
}

// releasedAfter runs a function and releases a block.
func releasedAfter(block *memory.Block, run func() error) error {
	return errors.Join(run(), block.Release())
}
