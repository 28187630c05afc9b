package numbers

import (
	"context"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// Column is a column of numbers as kernels read it. It borrows the memory of the
// column that it was made of.
type Column struct {
	Type   Type
	Values memory.Slice[uint8]
	// Valid is the validity bitmap, empty if no row is null. Bit is the position of
	// the first row in it.
	Valid memory.Slice[uint8]
	Bit   int
	// Rows is the number of rows. If Count has memory, Count holds the number and Rows
	// is the most it can be.
	Rows  int
	Count memory.Slice[int64]
}

// View returns the parts of a column of the given type. The stream of the caller must
// be ordered behind the work on the column: op.Begin does that.
func View(ctx context.Context, c *column.Column, t Type) (Column, error) {
	v := Column{Type: t}
	var err error
	if v.Rows, v.Count, err = c.Extent(ctx); err != nil || c.Len() == 0 {
		return v, err
	}
	if v.Values, err = c.ValuesRegion(); err != nil {
		return Column{}, err
	}
	if c.NullCount() != 0 && c.Buffer(0).Len() > 0 {
		v.Valid, v.Bit, err = c.Validity()
	}
	return v, err
}
