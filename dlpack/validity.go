package dlpack

import (
	"github.com/apache/arrow/go/v17/arrow"

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

func validityOf(c *column.Column) (contents, error) {
	if !hasValidity(c) {
		return contents{}, faulty("column", "%v: %w", c, ErrNoValidity)
	}
	bitmap := c.Buffer(0)
	first, bit := c.Offset()/8, c.Offset()%8
	shown := contents{
		block: bitmap.Block(), bitOffset: bit,
		length: (bit + c.Len() + 7) / 8, dataType: byteType,
	}
	if c.Len() == 0 {
		shown.length = 0
	} else {
		shown.pointer = bitmap.Pointer().Add(uint64(first))
	}
	return shown, nil
}

// hasValidity reports whether the column's first buffer is a validity bitmap.
func hasValidity(c *column.Column) bool {
	switch c.Type().ID() {
	case arrow.NULL, arrow.SPARSE_UNION, arrow.DENSE_UNION, arrow.RUN_END_ENCODED:
		return false
	}
	return c.NumBuffers() > 0 && c.Buffer(0).Block() != nil
}
