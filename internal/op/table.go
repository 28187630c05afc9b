package op

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// Table makes a table of columns as buffer.New does. The fields get the 64-bit offsets that columns
// have because their text did not fit 32-bit ones.
func Table(schema *arrow.Schema, columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	wide := layout.WithOffsets(schema, len(columns), func(i int) arrow.DataType { return columns[i].Type() })
	return buffer.New(wide, columns, rows)
}
