package column

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// Values returns the column without its validity bitmap: the same memory, without
// nulls. The values of null elements are undefined. Types without a bitmap are
// unchanged. The caller releases the column.
func (c *Column) Values() (*Column, error) {
	l, err := c.layout()
	if err != nil {
		return nil, err
	}
	data := c.copyData()
	if l.HasValidity() {
		data.Buffers[0], data.NullCount = Bytes{}, 0
	}
	return retained(data)
}

// Validity returns the part of the validity bitmap that covers the column, and the
// number, 0 to 7, of the first element's bit in its first byte. A set bit is an
// element that is not null. The region is borrowed from the column. If the column has
// no bitmap, because no element is null or because its type has no bitmap, the error
// wraps [ErrInvalid].
func (c *Column) Validity() (bits Bytes, bitOffset int, err error) {
	l, err := c.layout()
	if err != nil {
		return Bytes{}, 0, err
	}
	if !l.HasValidity() || c.data.Buffers[0].Block() == nil {
		return Bytes{}, 0, fmt.Errorf("column: validity of %v: it has no bitmap: %w", c, ErrInvalid)
	}
	return c.bits(0)
}

// bits returns the bytes of a bitmap that cover the column.
func (c *Column) bits(buffer int) (bits Bytes, bitOffset int, err error) {
	if c.data.Length == 0 {
		bits, err = c.data.Buffers[buffer].Slice(0, 0)
		return bits, 0, err
	}
	bits, err = c.data.Buffers[buffer].Slice(c.data.Offset/8, bitmapBytes(c.data.Offset+c.data.Length))
	return bits, c.data.Offset % 8, err
}

// Indices returns the indices of a dictionary column, with its nulls, as a column
// of integers that shares its memory. The caller releases the column.
func (c *Column) Indices() (*Column, error) {
	l, err := c.layout()
	if err != nil {
		return nil, err
	}
	if l.Kind != layout.Dictionary {
		return nil, fmt.Errorf("column: indices of %v: it has no dictionary: %w", c, ErrInvalid)
	}
	data := c.copyData()
	data.Type, data.Dictionary = l.Storage.(*arrow.DictionaryType).IndexType, nil
	return retained(data)
}

// ValuesRegion returns the values of the column, from its first element on, as bytes
// that are borrowed from it. The type must have a fixed width. Booleans must begin at
// a byte boundary, as in columns of [FromArrays].
func (c *Column) ValuesRegion() (Bytes, error) {
	l, err := c.layout()
	if err != nil {
		return Bytes{}, err
	}
	switch l.Kind {
	case layout.Fixed:
		first := c.data.Offset * l.Width
		if c.data.Length == 0 {
			first = 0
		}
		return c.data.Buffers[1].Slice(first, first+c.data.Length*l.Width)
	case layout.Bits:
		if c.data.Offset%8 != 0 {
			return Bytes{}, fmt.Errorf("column: values of %v: they begin at bit %d of a byte, expected bit 0: copy the column first: %w", c, c.data.Offset%8, ErrInvalid)
		}
		bits, _, err := c.bits(1)
		return bits, err
	case layout.Dictionary:
		return Bytes{}, fmt.Errorf("column: values of %v: dictionary types have indices instead: use Indices and Dictionary: %w", c, ErrInvalid)
	}
	return Bytes{}, fmt.Errorf("column: values of %v: the type has no fixed width: use its buffers and children: %w", c, ErrInvalid)
}

// layout checks that the column was not released and returns its layout.
func (c *Column) layout() (layout.Layout, error) {
	if err := c.Check(); err != nil {
		return layout.Layout{}, err
	}
	return layoutOf(c.data.Type)
}

var _ memory.Region = (*Column)(nil)

// Block returns the block of ValuesRegion, or nil if ValuesRegion returns an error.
// With Pointer and Bytes it makes a fixed-width column a memory.Region, which a
// kernel accepts as an argument.
func (c *Column) Block() *memory.Block {
	region, _ := c.ValuesRegion()
	return region.Block()
}

// Pointer returns the address of the values, or zero if ValuesRegion returns an
// error.
func (c *Column) Pointer() device.Pointer {
	region, _ := c.ValuesRegion()
	return region.Pointer()
}

// Bytes returns the length of the values, or zero if ValuesRegion returns an error.
func (c *Column) Bytes() uint64 {
	region, _ := c.ValuesRegion()
	return region.Bytes()
}
