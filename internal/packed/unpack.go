package packed

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// Options are those of [Unpack] and [Copy].
type Options struct {
	// Stream is the stream of the kernels and of the columns' memory; nil means the manager's.
	Stream *device.Stream
	// CopyStream is the stream that copies the blocks; nil means Stream. With another one the copy does not wait for
	// work on Stream, and fails at once if memory is short because other requests wait for it.
	CopyStream *device.Stream
	// Tag names the memory of the columns in the manager's statistics.
	Tag string
}

// Unpack copies packed columns to the device of a manager, in one transfer, and unpacks them there.
//
// # Waiting
//
// Unpack returns when the device has unpacked the columns.
//
// # Ownership
//
// The caller releases the columns. Those of a call share memory, which stays until the last of them is released.
//
// # Errors
//
// A damaged block is an [*Error]. Strings that are too long for a column are an error that wraps [ErrLong].
func Unpack(ctx context.Context, m *memory.Manager, columns []Column, options Options) (unpacked []*column.Column, err error) {
	b, err := Copy(ctx, m, columns, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Release()) }()
	return b.Unpack(ctx)
}

// unpackOnHost unpacks columns where the device is the host.
func unpackOnHost(ctx context.Context, m *memory.Manager, columns []Column, options Options) (unpacked []*column.Column, err error) {
	for i, c := range columns {
		next, err := c.onHost(ctx, m, options)
		if err != nil {
			return nil, errors.Join(located(err, i), release.All(unpacked))
		}
		unpacked = append(unpacked, next)
	}
	return unpacked, nil
}

func (c Column) onHost(ctx context.Context, m *memory.Manager, options Options) (*column.Column, error) {
	values, err := c.array(ctx, arrowmemory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	list, err := column.FromArrays(ctx, m, [][]arrow.Array{{values}}, column.UploadOptions{Stream: options.Stream, Tag: options.Tag, Unchecked: true})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// located adds the number of a column to an error.
func located(err error, column int) error {
	if damage, ok := errors.AsType[*Error](err); ok {
		damage.Column = column
		return damage
	}
	return fmt.Errorf("column %d: %w", column, err)
}
