package buffer

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// Select returns a table of the named columns, in the order of the names, without a
// copy. The schema keeps its metadata. If no column has one of the names, the error
// wraps [ErrSchema] and lists the table's names. The caller releases the table.
func (b *Buffer) Select(names ...string) (*Buffer, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, 0, len(names))
	columns := make([]*column.Column, 0, len(names))
	for _, name := range names {
		i, err := b.index(name)
		if err != nil {
			return nil, err
		}
		fields, columns = append(fields, b.schema.Field(i)), append(columns, b.columns[i])
	}
	return b.with(fields, columns)
}

// AppendColumn returns a table with an additional column, without a copy. The column
// must be as long as the table's capacity, and must have no row count on the device
// or the table's. The caller keeps its reference to the column and releases the
// table.
func (b *Buffer) AppendColumn(field arrow.Field, c *column.Column) (*Buffer, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("buffer: append column %q: %w", field.Name, err)
	}
	if field.Type == nil {
		return nil, fmt.Errorf("buffer: append column %q: the field has no type: %w", field.Name, ErrSchema)
	}
	if int64(c.Len()) != b.capacity {
		return nil, fmt.Errorf("buffer: append column %q: it has %d elements, expected the table's capacity %d: %w", field.Name, c.Len(), b.capacity, ErrRows)
	}
	return b.with(append(slices.Clone(b.schema.Fields()), field), append(slices.Clone(b.columns), c))
}

// with makes a table of the same rows with other columns.
func (b *Buffer) with(fields []arrow.Field, columns []*column.Column) (*Buffer, error) {
	metadata := b.schema.Metadata()
	return New(layout.SchemaWith(fields, &metadata, b.schema.Endianness()), columns, b.Rows())
}

// Slice returns length rows from an offset on, without a copy. The caller releases
// the table.
//
// # Errors
//
// The host must know the row count. If only the device does, the error wraps
// [ErrRowsOnDevice]: call NumRows first.
func (b *Buffer) Slice(offset, length int64) (*Buffer, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	rows, known := b.HostRows()
	if !known {
		return nil, fmt.Errorf("buffer: slice of %s: %w", b.headline(), ErrRowsOnDevice)
	}
	if offset < 0 || length < 0 || offset > rows || length > rows-offset {
		return nil, fmt.Errorf("buffer: slice of %d rows at %d from %d: %w", length, offset, rows, ErrRows)
	}
	columns := make([]*column.Column, 0, len(b.columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, c := range b.columns {
		part, err := c.Slice(int(offset), int(length))
		if err != nil {
			return nil, fmt.Errorf("buffer: slice column %q: %w", b.schema.Field(i).Name, err)
		}
		columns = append(columns, part)
	}
	return New(b.schema, columns, Rows{Count: length, Manager: b.manager})
}
