package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/hashtable"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

// Options configure [Unique] and [ValueCounts]. The zero value is right for most
// programs. At most one is given: more are an error that wraps device.ErrInvalidValue.
type Options = kernels.Options

// ErrTooLong is wrapped by errors about columns of more than 2³¹−1 rows, the most that
// the hash table can hold.
var ErrTooLong = hashtable.ErrTooLong

// ValuesName is the name of the column of values in the results of [Unique] and
// [ValueCounts].
const ValuesName = hashtable.ValuesName

// Unique returns the distinct values of a column in the order of their first
// occurrence, as a table of one column, "values". Null is one of them if it occurs.
// Only the rows of the column are read, also if only the device knows their number.
//
// # Waiting
//
// On a GPU Unique does not wait: the number of values stays on the device. On the host
// device Unique waits for pending work on c until ctx is done.
//
// # Memory
//
// On a GPU the table has room for the values that there can be: the package
// documentation says how many. Estimates are upper bounds.
//
// # Ownership
//
// The caller releases the table.
//
// # Errors
//
// The error wraps device.ErrNotSupported if values of the type cannot be compared, and
// [ErrTooLong] if the column has too many rows.
func Unique(ctx context.Context, c *column.Column, options ...Options) (*buffer.Buffer, error) {
	table, err := groupBy(ctx, c, hashtable.OnlyValues, options, (*hashtable.Groups).Values)
	if err != nil {
		return nil, fmt.Errorf("group: unique: %w", err)
	}
	return table, nil
}

// groupBy finds the groups of a column and makes a table of them.
func groupBy(ctx context.Context, c *column.Column, wanted hashtable.Wanted, given []Options,
	tableOf func(*hashtable.Groups, context.Context) (*buffer.Buffer, error),
) (*buffer.Buffer, error) {
	options, err := op.Only(given)
	if err != nil {
		return nil, err
	}
	groups, err := hashtable.Find(ctx, c, wanted, options)
	if err != nil {
		return nil, err
	}
	table, err := tableOf(groups, ctx)
	if err = errors.Join(err, groups.Release()); err != nil {
		return nil, errors.Join(err, table.Release())
	}
	return table, nil
}
