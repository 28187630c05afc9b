package chunks

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/memory"
)

// decodeOnHost decodes columns with decoders of package pages.
func decodeOnHost(ctx context.Context, m *memory.Manager, columns []Column, options Options) (decoded []*column.Column, err error) {
	for i := range columns {
		if columns[i].Nested != nil {
			return nil, errors.Join(fmt.Errorf("chunks: column %d is of lists or structs, which only a GPU decodes: %w", i, pages.ErrOther), release.All(decoded))
		}
		c, err := columns[i].onHost(ctx, m, options)
		if err != nil {
			if damage, ok := errors.AsType[*Error](err); ok {
				damage.Column = i
			} else {
				err = fmt.Errorf("column %d: %w", i, err)
			}
			return nil, errors.Join(fmt.Errorf("chunks: %w", err), release.All(decoded))
		}
		decoded = append(decoded, c)
	}
	return decoded, nil
}

func (c Column) onHost(ctx context.Context, m *memory.Manager, options Options) (*column.Column, error) {
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	for i, chunk := range c.Chunks {
		chunk.About.Type = c.Type
		if chunk.Rows == 0 {
			continue
		}
		parts, err := chunk.arrays(ctx)
		arrays = append(arrays, parts...)
		if errors.Is(err, pages.ErrDamaged) {
			return nil, &Error{Chunk: i, Err: err}
		}
		if err != nil {
			return nil, fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	if len(arrays) == 0 {
		return emptyColumn(m, c.Type)
	}
	list, err := column.FromArrays(ctx, m, [][]arrow.Array{arrays}, column.UploadOptions{Stream: options.Stream, Tag: options.Tag})
	if err != nil {
		return nil, err
	}
	if !arrow.TypeEqual(list[0].Type(), c.Type) { // with offsets of 64 bits
		return nil, errors.Join(ErrLong, list[0].Release())
	}
	return list[0], nil
}

// arrays decodes the rows of a chunk. The caller releases the arrays, also after an error.
func (c *Chunk) arrays(ctx context.Context) (arrays []arrow.Array, err error) {
	d, err := pages.NewDecoder(c.Bytes, c.About, arrowmemory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	row := int64(0)
	err = c.each(func(first, rows int64) error {
		for row < first+rows {
			if err := cancel.Error(ctx); err != nil {
				return err
			}
			count := first + rows - row
			if row < first {
				count = first - row
			}
			next, err := d.Next(count)
			if err != nil {
				return err
			}
			before := row < first
			row += int64(next.Len())
			if before {
				next.Release()
			} else {
				arrays = append(arrays, next)
			}
		}
		return nil
	})
	return arrays, err
}
