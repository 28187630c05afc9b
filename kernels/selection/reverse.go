package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/internal/operator"
	"github.com/gpuframe/gpuframe/memory"
)

// Reverse makes a table of the rows of another one, the last first. The row count
// may lie on the device and stays there.
//
// Where the host knows the number of rows and strings or lists are among the
// columns, it waits for their length, as [Take] does. Where only the device knows
// it nothing is waited for, but for strings and lists that are run-end encoded, and
// they take as much memory as those of the input.
// The caller releases the table.
func Reverse(ctx context.Context, table *buffer.Buffer, options ...kernels.Options) (*buffer.Buffer, error) {
	made, err := ruledRows(ctx, table, 0, first(options))
	if err != nil {
		return nil, fmt.Errorf("selection: reverse: %w", err)
	}
	return made, nil
}

// ReverseColumn is [Reverse] for one column.
func ReverseColumn(ctx context.Context, values *column.Column, options ...kernels.Options) (*column.Column, error) {
	call, err := operator.Begin(ctx, first(options), values)
	if err != nil {
		return nil, fmt.Errorf("selection: reverse: %w", err)
	}
	s := &source{order: ruled, limit: uint64(values.Len()), capacity: values.Len()}
	made, err := gather(ctx, &call, []*column.Column{values}, s, false)
	if err != nil {
		return nil, fmt.Errorf("selection: reverse: %w", err)
	}
	return made[0], nil
}

// ruledRows takes the last so many rows of a table, or for zero all of them the
// last first.
func ruledRows(ctx context.Context, table *buffer.Buffer, last int64, options kernels.Options) (*buffer.Buffer, error) {
	call, columns, err := begin(ctx, options, table)
	if err != nil {
		return nil, err
	}
	rows, counted := rowsOf(table)
	length := rows
	if last > 0 {
		length = min(rows, last)
	}
	s := &source{order: ruled, last: uint64(last), limit: uint64(rows), limitRows: counted, capacity: int(length), rows: counted}
	made, err := gather(ctx, &call, columns, s, counted.Len() > 0)
	if err != nil {
		return nil, err
	}
	count, err := atMost(ctx, &call, rows, counted, length)
	if err != nil {
		return nil, errors.Join(err, releaseColumns(made))
	}
	defer count.Device.Release()
	return tableOf(table, made, count)
}

// atMost returns a row count that is no more than length, with a reference that
// the caller gives back.
func atMost(ctx context.Context, call *operator.Call, rows int64, counted memory.Slice[int64], length int64) (buffer.Rows, error) {
	if counted.Len() == 0 {
		return buffer.Rows{Count: min(rows, length)}, nil
	}
	g := newGatherer(ctx, call)
	least, err := g.counted(count{rows: counted, capacity: int(rows), size: 1, most: uint64(length)})
	if err == nil {
		err = least.Retain()
	}
	return buffer.Rows{Device: least}, errors.Join(err, g.release())
}
