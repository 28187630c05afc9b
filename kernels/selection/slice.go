package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Head returns the first n rows of a table, or all rows if it has fewer. The result
// shares the memory of the columns. A row count on the device stays there, and Head
// does not wait. The caller releases the result.
func Head(ctx context.Context, table *buffer.Buffer, n int64, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("head", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return head(ctx, table, n, only)
	})
}

func head(ctx context.Context, table *buffer.Buffer, n int64, options kernels.Options) (*buffer.Buffer, error) {
	n, rows, counted, err := limit(ctx, table, n)
	if err != nil {
		return nil, err
	}
	if counted.Len() == 0 {
		return table.Slice(0, n)
	}
	call, columns, err := begin(ctx, options, table)
	if err != nil {
		return nil, err
	}
	if call.Estimating() {
		return nil, call.Estimate([]uint64{countBytes}, nil)
	}
	count, err := atMost(ctx, &call, rows, counted, n)
	if err != nil {
		return nil, err
	}
	defer count.Device.Release()
	shortened := make([]*column.Column, len(columns))
	for i, c := range columns {
		if shortened[i], err = c.SliceCapacity(0, int(n)); err != nil {
			return nil, errors.Join(err, release.All(shortened[:i]))
		}
	}
	return tableOf(table, shortened, count)
}

// Tail returns the last n rows of a table, or all rows if it has fewer. If the host
// knows the number of rows, the result shares the memory of the columns. Otherwise the
// device copies the rows; the data of strings and the elements of lists stay shared.
// Tail does not wait. The caller releases the result.
func Tail(ctx context.Context, table *buffer.Buffer, n int64, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("tail", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return tail(ctx, table, n, only)
	})
}

func tail(ctx context.Context, table *buffer.Buffer, n int64, options kernels.Options) (*buffer.Buffer, error) {
	n, rows, counted, err := limit(ctx, table, n)
	if err != nil {
		return nil, err
	}
	switch {
	case counted.Len() == 0:
		return table.Slice(rows-n, n)
	case n == 0:
		return head(ctx, table, 0, options)
	}
	return ruledRows(ctx, table, n, options)
}

// limit returns n, at most the rows of a table, and the extent of the table.
func limit(ctx context.Context, table *buffer.Buffer, n int64) (limited, rows int64, counted memory.Slice[int64], err error) {
	if err := table.Check(); err != nil {
		return 0, 0, counted, err
	}
	if n < 0 {
		return 0, 0, counted, fmt.Errorf("%d rows: %w", n, memory.ErrRange)
	}
	rows, counted, err = table.Extent(ctx)
	return min(n, rows), rows, counted, err
}
