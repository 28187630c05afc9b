package hashtable

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// Numbers returns the number of each row's group. The groups must have codes, and keep
// the memory.
func (g *Groups) Numbers() memory.Slice[uint32] { return g.codes }

// FirstRows returns a column of booleans, true for the first row of each group. Rows beyond
// the row count are false. The caller releases the column.
func (g *Groups) FirstRows() (*column.Column, error) {
	return column.New(column.Data{
		Type: arrow.FixedWidthTypes.Boolean, Length: g.column.Len(),
		Buffers: []column.Bytes{{}, g.firstBits}, Manager: g.call.Manager,
	})
}
