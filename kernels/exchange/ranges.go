package exchange

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// PartitionByRange divides the rows of a table into ranges of keys: part i has the rows that do not
// come before row i−1 of bounds, and come before row i. k bounds make k + 1 parts. bounds is a
// sorted table with columns for the keys, on the table's device. Rows keep their order within a
// part.
//
// Devices with the same bounds make parts that [AllToAll] can move, so that all rows of a device
// come before those of the next one, or are equal to them. Equal keys are in one part; a further
// key with a number of each row divides them too.
//
// The parts share memory of the size of the table. The caller releases the parts.
//
// # Waiting
//
// PartitionByRange waits like order.Partition and for the sizes of the parts.
//
// # Errors
//
// The errors are those of order.Partition.
func PartitionByRange(ctx context.Context, table, bounds *buffer.Buffer, keys []order.Key, options ...kernels.Options) ([]*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("exchange: partition by range: %w", err)
	}
	parts, err := partitionByRange(ctx, table, bounds, keys, only)
	if err != nil {
		return nil, fmt.Errorf("exchange: partition by range: %w", err)
	}
	return parts, nil
}

func partitionByRange(ctx context.Context, table, bounds *buffer.Buffer, keys []order.Key, options kernels.Options) ([]*buffer.Buffer, error) {
	if err := errors.Join(table.Check(), bounds.Check()); err != nil {
		return nil, err
	}
	count, err := bounds.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	if count == 0 {
		return []*buffer.Buffer{table}, table.Retain()
	}
	divided, err := order.Partition(ctx, table, bounds, keys, options)
	if err != nil {
		return nil, err
	}
	parts, err := slices(ctx, divided, table.Schema(), int(count)+1)
	if err = errors.Join(err, divided.Release()); err != nil {
		return nil, errors.Join(err, release.All(parts))
	}
	return parts, nil
}
