package order

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// Sort returns the rows of a table in the order of the keys: by the first key, rows with
// equal values by the second one, and so on. Rows with equal values in all keys keep their
// order. All of Arrow's types can be columns; the keys must have an order.
//
// # Waiting
//
// On a GPU Sort waits only to order strings, lists and keys of more than 64 bits, until
// ctx is done. If only the device knows the number of rows, it stays there. On the host
// device Sort waits for pending work on the table.
//
// # Ownership
//
// The caller releases the result.
//
// # Errors
//
// A key that cannot be used is a [*KeyError]. It wraps buffer.ErrSchema for an unknown
// name, and device.ErrNotSupported for values without an order. The error wraps
// [ErrTooLong] for more than [MaxRows] rows.
func Sort(ctx context.Context, table *buffer.Buffer, keys []Key, options ...Options) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: sort: %w", err)
	}
	sorted, err := sortTable(ctx, table, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: sort: %w", err)
	}
	return sorted, nil
}

func sortTable(ctx context.Context, table *buffer.Buffer, keys []Key, options kernels.Options) (*buffer.Buffer, error) {
	o, err := begin(ctx, table, keys, options)
	if err != nil {
		return nil, err
	}
	sorted, err := o.sortedTable(table, options)
	return release.OnError(sorted, err, o.release())
}

// sortedTable sorts the table that the ordering was begun with.
func (o *ordering) sortedTable(table *buffer.Buffer, options kernels.Options) (*buffer.Buffer, error) {
	options.Stream, options.Manager = o.call.Stream, o.call.Manager
	if t := o.newInPlaceSort(table); t != nil {
		return t.sorted(options)
	}
	if t := o.newTableSort(table); t != nil && (t.gathersNothing() || !o.sortsFew(o.rows)) {
		return t.sorted(options)
	}
	if o.call.Estimating() {
		return nil, o.estimateSort(table)
	}
	o.call.Tag = scratchTag
	rows, err := o.indices()
	if err != nil {
		return nil, err
	}
	return take(o.call.Context(), table, rows, options, true)
}

// take returns rows of a table, none twice, and releases their numbers. If they are all
// rows of the table, strings and lists need no wait, because their size is known.
func take(ctx context.Context, table *buffer.Buffer, rows *column.Column, options kernels.Options, all bool) (*buffer.Buffer, error) {
	taken, err := selection.TakeWith(ctx, table, rows, selection.TakeOptions{Options: options, Bounds: selection.Trust, Distinct: all})
	return release.OnError(taken, err, rows.Release())
}

// Indices returns the number of the row that comes first in the order of the keys, then
// that of the second one, and so on, as uint32: selection.Take of them is [Sort]. The
// column has the table's row count.
//
// # Waiting
//
// On a GPU Indices waits only to order strings, lists and keys of more than 64 bits. On
// the host device it waits for pending work on the keys until ctx is done.
//
// # Errors
//
// The errors are those of [Sort].
func Indices(ctx context.Context, table *buffer.Buffer, keys []Key, options ...Options) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: indices: %w", err)
	}
	rows, err := indices(ctx, table, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: indices: %w", err)
	}
	return rows, nil
}

func indices(ctx context.Context, table *buffer.Buffer, keys []Key, options kernels.Options) (*column.Column, error) {
	o, err := begin(ctx, table, keys, options)
	if err != nil {
		return nil, err
	}
	rows, err := o.indices()
	return release.OnError(rows, err, o.release())
}

// indices returns the sorted row numbers.
func (o *ordering) indices() (*column.Column, error) {
	result, s := o.result(arrow.PrimitiveTypes.Uint32), o.chooseSort()
	if o.call.Estimating() {
		if unforeseen(s) {
			return nil, errNoEstimate
		}
		sizes := result.Sizes()
		return nil, o.call.Estimate(sizes[:], s.scratch())
	}
	return o.newColumn(result, func(out op.Buffers) error {
		rows, err := memory.Reinterpret[uint32](out.Values)
		if err != nil {
			return err
		}
		block, scratch, err := o.call.Scratch(s.scratch()...)
		if err != nil {
			return err
		}
		return releasedAfter(block, func() error { return s.run(rows, scratch) })
	})
}
