package order

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

// IndicesWithKey returns the numbers of the rows in the order of a key, as [Indices] does, and
// the values of the key in that order. On a GPU numbers of four or eight bytes without nulls
// travel with the numbers of their rows, so the values take no gather. For other keys, and on
// the host, values is nil. The caller releases both columns.
//
// # Waiting
//
// IndicesWithKey waits when [Indices] does.
//
// # Errors
//
// The errors are those of [Sort]. An estimate is that of [Indices].
func IndicesWithKey(ctx context.Context, table *buffer.Buffer, key Key, options ...Options) (rows, values *column.Column, err error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, nil, fmt.Errorf("order: indices with key: %w", err)
	}
	if rows, values, err = indicesWithKey(ctx, table, key, only); err != nil {
		return nil, nil, fmt.Errorf("order: indices with key: %w", err)
	}
	return rows, values, nil
}

func indicesWithKey(ctx context.Context, table *buffer.Buffer, key Key, options kernels.Options) (rows, values *column.Column, err error) {
	o, err := begin(ctx, table, []Key{key}, options)
	if err != nil {
		return nil, nil, err
	}
	if sort, ok := o.inPlace(); ok && !o.call.Estimating() {
		sort.Numbers = radix.RowNumbers
		values, rows, err = (&inPlaceSort{ordering: o, table: table, sort: sort}).move()
	} else {
		rows, err = o.indices()
	}
	if err = errors.Join(err, o.release()); err != nil {
		return nil, nil, errors.Join(err, rows.Release(), values.Release())
	}
	return rows, values, nil
}
