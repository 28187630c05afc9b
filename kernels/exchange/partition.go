package exchange

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// mostParts is the maximum number of parts of a partition.
const mostParts = 1 << 16

// PartitionByHash divides the rows of a table into n parts by a hash of the keys: rows with
// equal keys are in one part, which depends only on the values of the keys and on n, and is the
// same on all devices and in all releases. Nulls are equal. Rows keep their order within a part.
// The hash is expr.Hash, by which group-by and joins that exceed memory divide their rows
// too; it is hashed again with a constant, so that they divide the rows of a part evenly.
//
// The parts share memory of the size of the table. Equal keys of several tables
// are in parts of the same number if they have one type or are integers of any width; join.HashKeys
// returns such keys for a join of other types. The caller releases the parts.
//
// # Waiting
//
// PartitionByHash waits for the row count and for the sizes of the parts.
func PartitionByHash(ctx context.Context, table *buffer.Buffer, keys []expr.Expr, n int, options ...kernels.Options) ([]*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("exchange: partition by hash: %w", err)
	}
	parts, err := partition(ctx, table, keys, n, only)
	if err != nil {
		return nil, fmt.Errorf("exchange: partition by hash: %w", err)
	}
	return parts, nil
}

// PartitionHash returns the expression of the hash by which [PartitionByHash] divides rows: part i
// of n has the hashes from i·(2^64/n) to (i+1)·(2^64/n), with the quotients rounded up.
func PartitionHash(keys ...expr.Expr) expr.Expr {
	return expr.Hash(expr.Hash(keys...), expr.Lit(uint64(partitionSalt)))
}

// partitionSalt makes the hash of parts independent of the hashes that divide their rows again.
const partitionSalt = 0x65786368616e6765

func partition(ctx context.Context, table *buffer.Buffer, keys []expr.Expr, n int, options kernels.Options) (parts []*buffer.Buffer, err error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("no key is given, expected one or more: %w", device.ErrInvalidValue)
	}
	if n < 1 || n > mostParts {
		return nil, fmt.Errorf("%d parts, expected 1 to %d: %w", n, mostParts, device.ErrInvalidValue)
	}
	if options.Manager == nil {
		options.Manager = table.Manager()
	}
	if n == 1 {
		return []*buffer.Buffer{table}, table.Retain()
	}
	numbers, err := partNumbers(ctx, table, keys, n, options)
	if err != nil {
		return nil, err
	}
	divided, err := order.PartitionBy(ctx, table, numbers, n, options)
	if err = errors.Join(err, numbers.Release()); err != nil {
		return nil, errors.Join(err, divided.Release())
	}
	parts, err = slices(ctx, divided, table.Schema(), n)
	if err = errors.Join(err, divided.Release()); err != nil {
		return nil, errors.Join(err, release.All(parts))
	}
	return parts, nil
}

// partNumbers returns the number of each row's part.
func partNumbers(ctx context.Context, table *buffer.Buffer, keys []expr.Expr, n int, options kernels.Options) (*column.Column, error) {
	options.Tag = op.ScratchTag
	number := PartitionHash(keys...)
	if n&(n-1) == 0 {
		number = number.ShiftRight(expr.Lit(uint64(64 - bits.TrailingZeros(uint(n)))))
	} else {
		number = number.Div(expr.Lit(math.MaxUint64/uint64(n) + 1))
	}
	numberType := arrow.PrimitiveTypes.Uint32
	if n <= math.MaxUint8 {
		numberType = arrow.PrimitiveTypes.Uint8
	}
	columns, err := expr.Evaluate(ctx, table, []expr.Expr{number.CastWrap(numberType)}, options)
	if err != nil {
		return nil, err
	}
	return columns[0], nil
}

// slices returns the parts of a partitioned table, with the columns of a schema.
func slices(ctx context.Context, divided *order.Partitions, schema *arrow.Schema, n int) (parts []*buffer.Buffer, err error) {
	offsets, err := divided.Offsets.Array(ctx)
	if err != nil {
		return nil, err
	}
	defer offsets.Release()
	at := offsets.(*array.Uint32).Uint32Values()
	if len(at) != n+1 {
		return nil, fmt.Errorf("the partition has %d bounds, expected %d: %w", len(at), n+1, column.ErrInvalid)
	}
	columns := make([]*column.Column, schema.NumFields())
	for i := range columns {
		columns[i] = divided.Rows.Column(i)
	}
	narrow, err := buffer.New(schema, columns, divided.Rows.Rows())
	if err != nil {
		return nil, err
	}
	defer func() {
		if failure := narrow.Release(); failure != nil {
			parts, err = nil, errors.Join(err, failure, release.All(parts))
		}
	}()
	if _, err := narrow.NumRows(ctx); err != nil {
		return nil, err
	}
	for i := range n {
		part, err := narrow.Slice(int64(at[i]), int64(at[i+1]-at[i]))
		if err != nil {
			return nil, errors.Join(err, release.All(parts))
		}
		parts = append(parts, part)
	}
	return parts, nil
}
