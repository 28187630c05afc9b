package dictionary

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Decode returns the values that the indices of a dictionary column stand for. A null
// index and an index of a null value give null. A column that is not encoded is
// returned itself, with one more reference.
//
// # Waiting
//
// Decode waits, until ctx is done, for the check of the indices, and for the total
// length of values of variable length.
//
// # Ownership
//
// The caller releases the column.
//
// # Errors
//
// The error wraps selection.ErrBounds if an index is outside the dictionary.
func Decode(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("dictionary: decode: %w", err)
	}
	decoded, err := decode(ctx, c, only)
	if err != nil {
		return nil, fmt.Errorf("dictionary: decode: %w", err)
	}
	return decoded, nil
}

func decode(ctx context.Context, c *column.Column, options Options) (decoded *column.Column, err error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Dictionary() == nil {
		return c, c.Retain()
	}
	indices, err := c.Indices()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, indices.Release()) }()
	return selection.TakeColumn(ctx, c.Dictionary(), indices, options)
}
