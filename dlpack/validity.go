package dlpack

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/column"
)

// ExportValidity hands a column's validity bitmap to another library, without a copy,
// as a tensor of bytes: eight elements in each byte, the first in the least
// significant bit, 1 for valid. Bits after the last element are undefined.
//
// The bitmap of a sliced column may begin within a byte: the first element is then
// bit [Tensor.BitOffset] of the first byte. Columns of every type that has a bitmap
// are supported. The rest is as for [Export].
//
// # Errors
//
// The error wraps [ErrNoValidity] if the column has no bitmap.
func ExportValidity(c *column.Column, options ...ExportOptions) (*Tensor, error) {
	tensor, err := exportColumn(c, options, validityOf)
	return tensor, during("export validity", err)
}

func validityOf(_ context.Context, c *column.Column) (contents, error) {
	bitmap, bitOffset, err := c.Validity()
	if errors.Is(err, column.ErrInvalid) {
		return contents{}, faulty("column", "%v: %w", c, ErrNoValidity)
	}
	if err != nil {
		return contents{}, faulty("column", "%w", err)
	}
	return contents{region: bitmap, length: bitmap.Len(), dataType: byteType, bitOffset: bitOffset, home: c.Manager()}, nil
}
