package join

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// Tables joins two tables. on are the keys: rows match if all keys are equal. The result
// has the left columns, then the right columns without the right keys that have the name of
// their left key. In a right join such a key column has the values of the right table, in a
// full join those of the row that exists, in a type that has the values of both. Semi and Anti have only the left columns.
//
// Pairs are in the order of the rows of one side, the pairs of each such row in the order of the
// other side's rows: see [Order].
//
// # Waiting
//
// On a GPU Tables waits once for the number of pairs, and with it for whether keys of the
// smaller table occur twice. If they do it waits again, for the number of their pairs. A
// left join whose right keys are known to be unique does not wait. Added to this are one
// wait for each row count that only the device knows, for a condition, and for right rows
// without a match; keys that do not fit 64 bits add those of order.Search. See [github.com/gpuframe/gpuframe/kernels/selection.Take] for the waits of strings and lists.
//
// The number of rows of Semi and Anti stays on the device, unless MaxRows is set.
//
// # Ownership
//
// The caller releases the result. It shares columns of a table, without a copy, if all of
// its rows are in the result once and in order, as in a left join with distinct right keys.
//
// # Errors
//
// A pair of keys that cannot be used is a [*KeyError]. It wraps buffer.ErrSchema for
// unknown names and device.ErrNotSupported for types that cannot be compared. A result
// with too many rows is a [*TooManyRowsError]. A result that does not fit the budget is an
// error that wraps memory.ErrBudget, with the bytes of its columns.
//
// # Estimates
//
// Estimates are upper bounds. The result has at most MaxRows rows. If the keys of one table
// are known to be unique, each row of the other table has at most one match. Joins with a
// condition, with keys of more than 64 bits, or with strings in rows that may match several
// times cannot be estimated.
func Tables(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) (*buffer.Buffer, error) {
	table, err := joinTables(ctx, left, right, on, options)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	return table, nil
}

func joinTables(ctx context.Context, left, right *buffer.Buffer, on []On, options Options) (*buffer.Buffer, error) {
	if options.Estimate != nil {
		return nil, estimateTables(ctx, left, right, on, options)
	}
	s, err := begin(ctx, left, right, on, options)
	if err != nil {
		return nil, err
	}
	o := output{sides: s, reversed: s.reverses()}
	o.roles = s.roles(o.reversed || s.probesRight())
	m, err := s.match(o.roles.probesRight)
	if err != nil {
		return nil, errors.Join(err, s.Release())
	}
	table, err := o.tableOf(m)
	return release.OnError(table, err, s.Release())
}
