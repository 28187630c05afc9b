package column

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/memory"
)

// Slice returns length elements from position offset on as a column that shares the
// memory of c. As in Arrow, only offset and length change: children and dictionary
// stay whole. The null count is zero or the length if that follows from the null
// count of c, and otherwise unknown. The caller releases the column.
//
// # Errors
//
// The host must know the number of rows. If only the device does, the error wraps
// [ErrRowsOnDevice]: call NumRows first, or use [Column.WithHostRows].
func (c *Column) Slice(offset, length int) (*Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	rows, known := c.HostRows()
	if !known {
		return nil, fmt.Errorf("column: slice of %v: %w", c, ErrRowsOnDevice)
	}
	if offset < 0 || length < 0 || offset > rows || length > rows-offset {
		return nil, fmt.Errorf("column: slice of %d elements at offset %d of %v: %w", length, offset, c, memory.ErrRange)
	}
	return c.part(offset, length)
}

// SliceCapacity is [Column.Slice] for operators: positions refer to the capacity, not
// to the rows, so the number of rows need not be known. The result has no row count,
// and its elements after the last row are undefined: add a count with
// [Column.WithRows] before you pass it on.
func (c *Column) SliceCapacity(offset, length int) (*Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if offset < 0 || length < 0 || offset > c.data.Length || length > c.data.Length-offset {
		return nil, fmt.Errorf("column: slice of %d elements at offset %d of the capacity %d of %v: %w", length, offset, c.data.Length, c, memory.ErrRange)
	}
	if c.data.Rows == nil {
		return c.part(offset, length)
	}
	whole, err := c.uncounted()
	if err != nil {
		return nil, err
	}
	part, err := whole.part(offset, length)
	return part, errors.Join(err, whole.Release())
}

func (c *Column) part(offset, length int) (*Column, error) {
	data := c.copyData()
	data.Known = c.Known().ofPart()
	data.Offset += offset
	data.cut(length)
	data.Rows = nil
	return retained(data)
}

// cut reduces the length.
func (d *Data) cut(length int) {
	switch {
	case d.NullCount == 0:
	case d.NullCount == d.Length:
		d.NullCount = length
	default:
		d.NullCount = UnknownNullCount
	}
	d.Length = length
}

// copyData returns a copy of the parts, which may be changed.
func (c *Column) copyData() Data {
	data := c.data
	data.Buffers = slices.Clone(data.Buffers)
	return data
}
