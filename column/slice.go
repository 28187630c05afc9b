package column

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/memory"
)

// Slice returns length elements from position offset on as a column that shares
// the memory of c. As in Arrow only offset and length are new: children and
// dictionary stay whole. The null count is zero or the length where c tells that,
// and else unknown. The caller releases the column.
func (c *Column) Slice(offset, length int) (*Column, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if offset < 0 || length < 0 || offset > c.data.Length || length > c.data.Length-offset {
		return nil, fmt.Errorf("column: slice of %d elements at offset %d of %v: %w", length, offset, c, memory.ErrRange)
	}
	data := c.copyData()
	data.Offset += offset
	data.Length = length
	switch {
	case c.data.NullCount == 0:
	case c.data.NullCount == c.data.Length:
		data.NullCount = length
	default:
		data.NullCount = UnknownNullCount
	}
	return retained(data)
}

// copyData returns the parts, so that changing them leaves the column as it is.
func (c *Column) copyData() Data {
	data := c.data
	data.Buffers = slices.Clone(data.Buffers)
	return data
}
