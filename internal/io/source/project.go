package source

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// projection selects columns of records. Its schema has no views if the records may have some.
type projection struct {
	schema *arrow.Schema
	// places are the columns in the records of the source; nil stands for all.
	places []int
}

// project finds the named columns in a schema. Nil stands for all columns.
func project(schema *arrow.Schema, columns []string) (projection, error) {
	if columns == nil {
		return projection{schema: schema}, nil
	}
	fields, places := make([]arrow.Field, len(columns)), make([]int, len(columns))
	for i, name := range columns {
		indices := schema.FieldIndices(name)
		if len(indices) == 0 {
			return projection{}, unknownColumn(name, fieldNames(schema), buffer.ErrSchema)
		}
		fields[i], places[i] = schema.Field(indices[0]), indices[0]
	}
	metadata := schema.Metadata()
	return projection{schema: layout.SchemaWith(fields, &metadata, schema.Endianness()), places: places}, nil
}

// record returns the selected columns of a record, which the caller releases.
func (p projection) record(record arrow.Record) arrow.Record {
	if p.places == nil {
		return p.plain(record)
	}
	columns := make([]arrow.Array, len(p.places))
	for i, place := range p.places {
		columns[i] = plainArray(record.Column(place))
		defer columns[i].Release()
	}
	return array.NewRecord(p.schema, columns, record.NumRows())
}

// length is about the length of the selected columns of a record.
func (p projection) length(record arrow.Record) (bytes int64) {
	for i, values := range record.Columns() {
		if p.places == nil || slices.Contains(p.places, i) {
			bytes += valueBytes(values)
		}
	}
	return bytes
}

// plain returns a record of the schema, without views, which the caller releases.
func (p projection) plain(record arrow.Record) arrow.Record {
	if record.Schema() == p.schema || record.Schema().Equal(p.schema) {
		record.Retain()
		return record
	}
	columns := make([]arrow.Array, record.NumCols())
	for i, column := range record.Columns() {
		columns[i] = plainArray(column)
		defer columns[i].Release()
	}
	return array.NewRecord(p.schema, columns, record.NumRows())
}

func fieldNames(schema *arrow.Schema) []string {
	listed := make([]string, schema.NumFields())
	for i, field := range schema.Fields() {
		listed[i] = field.Name
	}
	return listed
}
