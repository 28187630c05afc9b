package order

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Key orders rows by a column of the table, by an expression on its columns, or by a
// separate column with a value for each row. Exactly one of the three is set.
type Key struct {
	// Column is the name of a column, of the first one if several have it.
	Column string
	// Expr is evaluated for each row.
	Expr expr.Expr
	// Values has as many rows as the table.
	Values *column.Column
	// Descending puts large values first.
	Descending bool
	// NullsFirst puts nulls before all values, instead of after them.
	NullsFirst bool
}

// String returns the name of the column, or the expression, for messages.
func (k Key) String() string {
	switch {
	case k.Values != nil:
		return fmt.Sprint(k.Values)
	case !k.Expr.IsZero():
		return k.Expr.String()
	}
	return fmt.Sprintf("%q", k.Column)
}

// KeyError is a key that cannot be used.
type KeyError struct {
	// Number is the number of the key, counted from 0.
	Number int
	Key    Key
	Err    error
}

// Error names the key.
func (e *KeyError) Error() string { return fmt.Sprintf("key %d, %v: %v", e.Number, e.Key, e.Err) }

// Unwrap returns Err.
func (e *KeyError) Unwrap() error { return e.Err }

// columnsOf returns a column for each key. The caller releases them. Expressions that are
// not plain columns are evaluated.
func columnsOf(ctx context.Context, table *buffer.Buffer, keys []Key, options kernels.Options) (columns []*column.Column, err error) {
	if len(keys) == 0 {
		return nil, fmt.Errorf("no key is given, expected one or more: %w", device.ErrInvalidValue)
	}
	columns = make([]*column.Column, len(keys))
	defer func() {
		if err != nil {
			columns, err = nil, errors.Join(err, release.All(columns))
		}
	}()
	for i, key := range keys {
		if columns[i], err = key.column(ctx, table, options); err != nil {
			return columns, &KeyError{i, key, err}
		}
		if err = rowkey.Check(columns[i].Type(), i); err != nil {
			return columns, &KeyError{i, key, err}
		}
	}
	return columns, nil
}

// column returns the column of a key, with a reference for the caller.
func (k Key) column(ctx context.Context, table *buffer.Buffer, options kernels.Options) (*column.Column, error) {
	given := 0
	for _, isSet := range []bool{k.Column != "", !k.Expr.IsZero(), k.Values != nil} {
		if isSet {
			given++
		}
	}
	if given > 1 {
		return nil, fmt.Errorf("%d of Column, Expr and Values are set, expected one: %w", given, device.ErrInvalidValue)
	}
	switch {
	case k.Values != nil:
		if err := k.Values.Check(); err != nil {
			return nil, err
		}
		if int64(k.Values.Len()) != table.Capacity() {
			return nil, fmt.Errorf("the column has %d elements, expected the table's %d: %w", k.Values.Len(), table.Capacity(), buffer.ErrRows)
		}
		return k.Values, k.Values.Retain()
	case !k.Expr.IsZero():
		if name, ok := k.Expr.Column(); ok {
			return Key{Column: name}.column(ctx, table, options)
		}
		if options.Estimate != nil {
			return nil, fmt.Errorf("the expression has to be evaluated before an estimate: %w", device.ErrNotSupported)
		}
		columns, err := expr.Evaluate(ctx, table, []expr.Expr{k.Expr}, kernels.Options{Stream: options.Stream, Manager: options.Manager, Tag: scratchTag})
		if err != nil {
			return nil, err
		}
		return columns[0], nil
	}
	c, err := table.ColumnByName(k.Column)
	if err != nil {
		return nil, err
	}
	return c, c.Retain()
}
