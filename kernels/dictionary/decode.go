package dictionary

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
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
// # Memory
//
// The result has the capacity of the column. An estimate is an upper bound: it has a
// bitmap also if no row is null. The indices decide about the length of strings, so
// there is no estimate for them.
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
	if options.Estimate != nil {
		return nil, estimateDecode(ctx, c, options)
	}
	indices, err := c.Indices()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, indices.Release()) }()
	return selection.TakeColumn(ctx, c.Dictionary(), indices, options)
}

// estimateDecode records what decode allocates for values of a fixed width.
func estimateDecode(ctx context.Context, c *column.Column, options Options) error {
	call, err := op.Begin(ctx, options, c)
	if err != nil {
		return err
	}
	valueType := c.Dictionary().Type()
	if _, fixed := column.ElementBytes(valueType); !fixed && valueType.ID() != arrow.BOOL {
		return fmt.Errorf("the indices decide about the size of %v: %w", valueType, device.ErrNotSupported)
	}
	sizes := op.Result{Type: valueType, Length: c.Len(), Nullable: true}.Sizes()
	return call.Estimate(sizes[:], nil)
}
