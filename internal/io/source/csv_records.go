package source

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// textColumn is a column of a file that is read.
type textColumn struct {
	field arrow.Field
	// place is its place in the rows of the file, or -1 for a column of nulls.
	place int
	cut   bool
}

// csvDecoding decodes blocks of one file.
type csvDecoding struct {
	csvFormat
	schema    *arrow.Schema
	columns   []textColumn
	width     int // of rows of the file
	allocator arrowmemory.Allocator
}

// csvBuilder appends values to a column.
type csvBuilder struct {
	textColumn
	builder array.Builder
	value   textValue
	text    bool
}

// record decodes a block.
func (d *csvDecoding) record(b block) (arrow.Record, error) {
	builder := array.NewRecordBuilder(d.allocator, d.schema)
	defer builder.Release()
	builder.Reserve(b.rows)
	builders := make([]csvBuilder, len(d.columns))
	for i, c := range d.columns {
		column := builder.Field(i)
		value := textValues(column, c.cut)
		if value == nil {
			value = func(text string) bool { return column.AppendValueFromString(text) == nil }
		}
		builders[i] = csvBuilder{c, column, value, isText(c.field.Type)}
	}
	rows, decoded := newCSVRows(b, d.Delimiter), int64(0)
	for {
		row, line, ok, err := rows.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if isEmptyLine(row) && d.width != 1 {
			continue
		}
		if len(row) != d.width {
			return nil, fmt.Errorf("line %d has the wrong number of fields: %d, expected %d: %w", line, len(row), d.width, ErrContents)
		}
		decoded++
		for i := range builders {
			if err := d.add(&builders[i], row, line); err != nil {
				return nil, err
			}
		}
	}
	if len(d.columns) == 0 {
		return array.NewRecord(d.schema, nil, decoded), nil
	}
	return builder.NewRecord(), nil
}

// add appends the value of a row to a column.
func (d *csvDecoding) add(c *csvBuilder, row []csvField, line int) error {
	if c.place < 0 || d.isNull(row[c.place], c.text) {
		c.builder.AppendNull()
		return nil
	}
	if text := row[c.place].text; !c.value(text) {
		return &ValueError{line, c.field.Name, text, c.field.Type, "give the type in CSVOptions.Types, or infer it from more rows with InferRows"}
	}
	return nil
}

// isEmptyLine reports whether a row is that of an empty line.
func isEmptyLine(row []csvField) bool { return len(row) == 1 && row[0] == csvField{} }

// isNull reports whether a value stands for null. A text within quotes does not, but the empty one
// of a column of other values: many programs write quotes around every value.
func (f csvFormat) isNull(value csvField, text bool) bool {
	if value.quoted && (text || value.text != "") {
		return false
	}
	return slices.Contains(f.Nulls, value.text)
}

func isText(t arrow.DataType) bool {
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
}
