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

// TableOf makes a table of columns that may have nulls. The caller keeps its references.
func TableOf(names []string, columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: names[i], Type: c.Type(), Nullable: true}
	}
	return buffer.New(layout.Schema(fields), columns, rows)
}
