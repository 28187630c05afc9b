package selection

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Reverse returns a table with the rows of another table in reverse order. The row
// count may be on the device and stays there. The caller releases the result.
//
// # Waiting
//
// If the host knows the number of rows, Reverse waits for the length of strings and
// lists, as [Take] does. If only the device knows it, Reverse waits only for run-end
// encoded strings and lists, and other strings and lists take as much memory as in the
// input.
func Reverse(ctx context.Context, table *buffer.Buffer, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("reverse", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return ruledRows(ctx, table, 0, only)
	})
}

// ReverseColumn is [Reverse] for one column.
func ReverseColumn(ctx context.Context, values *column.Column, options ...kernels.Options) (*column.Column, error) {
	return operation("reverse", options, func(only kernels.Options) (*column.Column, error) {
		return reverseColumn(ctx, values, only)
	})
}

func reverseColumn(ctx context.Context, values *column.Column, options kernels.Options) (reversed *column.Column, err error) {
	call, err := op.Begin(ctx, options, values)
	if err != nil {
		return nil, err
	}
	if values, err = withDeviceRows(ctx, &call, values); err != nil {
		return nil, err
	}
	defer func() { reversed, err = release.OnError(reversed, err, values.Release()) }()
	counted := values.DeviceRows()
	s := &source{order: ruled, limit: uint64(values.Len()), limitRows: counted, capacity: values.Len(), rows: counted, once: true, exact: counted.Len() == 0}
	taken, err := gather(ctx, &call, []*column.Column{values}, s)
	if err != nil {
		return nil, err
	}
	return rowsLike(taken[0], values)
}

// ruledRows takes the last rows of a table, last of them, in order. If last is zero it
// takes all rows in reverse order.
func ruledRows(ctx context.Context, table *buffer.Buffer, last int64, options kernels.Options) (*buffer.Buffer, error) {
	call, columns, err := begin(ctx, options, table)
	if err != nil {
		return nil, err
	}
	rows, counted, err := table.Extent(ctx)
	if err != nil {
		return nil, err
	}
	length := rows
	if last > 0 {
		length = min(rows, last)
	}
	s := &source{order: ruled, last: uint64(last), limit: uint64(rows), limitRows: counted, capacity: int(length), rows: counted, once: true, exact: counted.Len() == 0}
	if call.Estimating() {
		return nil, estimateRuled(ctx, &call, columns, s)
	}
	taken, err := gather(ctx, &call, columns, s)
	if err != nil {
		return nil, err
	}
	count, err := atMost(ctx, &call, rows, counted, length)
	if err != nil {
		return nil, errors.Join(err, release.All(taken))
	}
	defer count.Device.Release()
	return tableOf(table, taken, count)
}

// estimateRuled collects the sizes of the rows and of their count.
func estimateRuled(ctx context.Context, call *op.Call, columns []*column.Column, s *source) error {
	g := newGatherer(ctx, call)
	if _, err := g.columns(columns, s); err != nil {
		return err
	}
	if s.rows.Len() > 0 {
		g.sizes.result = append(g.sizes.result, countBytes)
	}
	return g.sizes.estimate(call)
}

// countBytes is the size of a row count.
const countBytes = 8

// atMost returns a row count limited to length. The caller releases its reference.
func atMost(ctx context.Context, call *op.Call, rows int64, counted memory.Slice[int64], length int64) (buffer.Rows, error) {
	if counted.Len() == 0 {
		return buffer.Rows{Count: min(rows, length), Manager: call.Manager}, nil
	}
	g := newGatherer(ctx, call)
	least, err := g.counted(count{rows: counted, capacity: int(rows), size: 1, most: uint64(length)})
	if err == nil {
		least, err = least.Own()
	}
	if err != nil {
		return buffer.Rows{}, errors.Join(err, g.release())
	}
	if err := g.release(); err != nil {
		return buffer.Rows{}, errors.Join(err, least.Release())
	}
	return buffer.Rows{Device: least, Manager: call.Manager}, nil
}
