package dictionary

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/hashtable"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Options configure the functions of this package. The zero value is right for most
// programs. At most one is given: more are an error that wraps device.ErrInvalidValue.
type Options = kernels.Options

// ErrTooLong is wrapped by errors about columns of more than 2³¹−1 rows, the most that
// 32-bit codes can number.
var ErrTooLong = hashtable.ErrTooLong

// Encode returns a column of the same values, encoded by a dictionary of the distinct
// values in the order of their first occurrence and 32-bit indices. Nulls stay null and
// are not in the dictionary. A column that is a dictionary already is returned itself,
// with one more reference. The dictionary is known to be unique
// (column.Column.DictionaryUnique).
//
// The result has the rows of the column: if only the device knows their number, that
// stays so.
//
// # Waiting
//
// Encode waits for the number of distinct values until ctx is done, and before that for
// a row count that only the device knows: the hash table then has room for the rows and
// not for the capacity.
//
// # Ownership
//
// The caller releases the column.
//
// # Errors
//
// The error wraps device.ErrNotSupported if values of the type cannot be compared, and
// [ErrTooLong] if the column has too many rows.
func Encode(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("dictionary: encode: %w", err)
	}
	encoded, err := encode(ctx, c, only)
	if err != nil {
		return nil, fmt.Errorf("dictionary: encode: %w", err)
	}
	return encoded, nil
}

func encode(ctx context.Context, c *column.Column, options Options) (encoded *column.Column, err error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Dictionary() != nil {
		return c, c.Retain()
	}
	groups, err := hashtable.Find(ctx, c, hashtable.WithCodes, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, groups.Release()) }()
	values, err := groups.Values(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, values.Release()) }()
	// Compact fetches the number of values, so that they need not keep memory for all rows.
	compact, err := selection.Compact(ctx, values, groups.Options())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, compact.Release()) }()
	unique := compact.Column(0)
	unique.LearnUnique(column.Yes)
	return groups.Indices(unique)
}
