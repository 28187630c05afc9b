package op

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/layout"
)

// Table makes a table of columns as buffer.New does. The fields get the 64-bit offsets that columns
// have because their text did not fit 32-bit ones.
func Table(schema *arrow.Schema, columns []*column.Column, rows buffer.Rows) (*buffer.Buffer, error) {
	var fields []arrow.Field
	for i, c := range columns {
		if i >= schema.NumFields() {
			break // buffer.New reports it
		}
		t, wider := layout.Wider(schema.Field(i).Type, c.Type())
		if !wider {
			continue
		}
		if fields == nil {
			fields = schema.Fields()
		}
		fields[i].Type = t
	}
	if fields != nil {
		metadata := schema.Metadata()
		schema = arrow.NewSchemaWithEndian(fields, &metadata, schema.Endianness())
	}
	return buffer.New(schema, columns, rows)
}
