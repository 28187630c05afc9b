package dlpack

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/column"
)

// ExportValidity hands a column's validity bitmap to another library, without
// copying it, as a tensor of bytes: eight elements a byte, the first in the least
// significant bit, 1 for valid. Bits past the last element are undefined.
//
// The bitmap of a sliced column may begin within a byte: the first element is
// then bit [Tensor.BitOffset] of the first byte. Columns of every type that has
// a bitmap will do. The error wraps [ErrNoValidity] where there is none; for the
// rest see [Export].
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
