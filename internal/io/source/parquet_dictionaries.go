package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
)

// Strings that a Parquet file encodes by dictionaries are read as indices and dictionaries,
// copied to the device like this, and decoded there: the host writes 4 bytes for each row
// instead of the string. The schema of the tables does not change.

// leastEncodedRows is the least number of rows of a record with dictionaries: each record has a
// copy of the dictionary.
var leastEncodedRows int64 = 1 << 12 // tests change it

// encodedColumns reports for each column of the result whether it is read with its dictionaries:
// columns of utf8 and binary of which the file encodes all values by them.
func (p *parquetRecords) encodedColumns() []bool {
	encoded := make([]bool, p.schema.NumFields())
	if p.rows < leastEncodedRows || len(p.conditions) > 0 { // the rows that conditions select may be fewer than the values
		return encoded
	}
	for i, field := range p.schema.Fields() {
		id := field.Type.ID()
		encoded[i] = len(p.groups) > 0 && (id == arrow.STRING || id == arrow.BINARY) && p.partition(field.Name) < 0
	}
	for _, group := range p.groups {
		short := slices.ContainsFunc(group.spans, func(s span) bool { return s.rows < leastEncodedRows })
		for i, leaves := range p.leaves(group.footer) {
			encoded[i] = encoded[i] && len(leaves) == 1 && !group.footer.converts(p.schema.Field(i).Name) && !short && group.encodedLeaf(leaves[0])
		}
	}
	return encoded
}

// encodedLeaf reports whether a column chunk of strings is encoded by a dictionary and has more
// rows than that has bytes in four: a smaller chunk is decoded in less time than its dictionary.
func (g rowGroup) encodedLeaf(leaf int) bool {
	about := g.footer.column(leaf)
	chunk := g.footer.about(g.index, leaf)
	if about.Physical != parquetformat.ByteArray || about.MaxRepetition > 0 || about.MaxDefinition > 1 ||
		chunk.IsEncrypted || !g.footer.dictionaryOnly(g.index, leaf) {
		return false
	}
	length := chunk.DataPage - chunk.DictionaryPage
	return length > 0 && length <= 4*g.rows
}

// encodedSchema is the schema of records of which some columns have dictionaries.
func encodedSchema(schema *arrow.Schema, encoded []bool) *arrow.Schema {
	fields := schema.Fields()
	for i, hasDictionary := range encoded {
		if hasDictionary {
			fields[i].Type = encodedType(fields[i].Type)
		}
	}
	return arrow.NewSchema(fields, nil)
}

func encodedType(values arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: values}
}

// encodes reports whether a schema has dictionaries of the values of another one.
func encodes(has, wanted *arrow.Schema) bool {
	for i := range min(has.NumFields(), wanted.NumFields()) {
		if has.Field(i).Type.ID() == arrow.DICTIONARY && wanted.Field(i).Type.ID() != arrow.DICTIONARY {
			return true
		}
	}
	return false
}

// copyEncoded copies the columns with dictionaries, decodes them, and puts them into a list. They are copied apart, because
// the memory of a copy stays until its last column is released.
func (c *tableCopy) copyEncoded(ctx context.Context, to []*column.Column) (err error) {
	var places []int
	for i := range to {
		if to[i] == nil {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return nil
	}
	projections := make([]arrow.Record, len(c.records))
	defer func() { release.Arrow(projections) }()
	for r, record := range c.records {
		projections[r] = projected(record, places)
	}
	table, err := buffer.FromRecords(ctx, c.target.manager, projections, buffer.LoadOptions{Tag: c.target.tag})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Release()) }()
	for i, place := range places {
		if to[place], err = dictionary.Decode(ctx, table.Column(i), dictionary.Options{Tag: c.target.tag}); err != nil {
			return fmt.Errorf("column %q: %w", c.target.schema.Field(place).Name, err)
		}
	}
	return nil
}

// projected returns some columns of a record.
func projected(record arrow.Record, places []int) arrow.Record {
	fields, columns := make([]arrow.Field, len(places)), make([]arrow.Array, len(places))
	for i, place := range places {
		fields[i], columns[i] = record.Schema().Field(place), record.Column(place)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows())
}

// decodedRecords decodes columns of dictionaries on the host, those of the places of a predicate, so that
// they have the types of a schema. It takes the references to the records.
func decodedRecords(schema *arrow.Schema, records []arrow.Record, wanted func(place int) bool) []arrow.Record {
	defer release.Arrow(records)
	decoded, metadata := make([]arrow.Record, len(records)), schema.Metadata()
	for r, record := range records {
		fields, columns := schema.Fields(), make([]arrow.Array, record.NumCols())
		for i, c := range record.Columns() {
			if d, ok := c.(*array.Dictionary); ok && !arrow.TypeEqual(d.DataType(), schema.Field(i).Type) && wanted(i) {
				columns[i] = decodedArray(d)
			} else {
				c.Retain()
				columns[i] = c
			}
			fields[i].Type = columns[i].DataType()
		}
		decoded[r] = array.NewRecord(arrow.NewSchema(fields, &metadata), columns, record.NumRows())
		release.Arrow(columns)
	}
	return decoded
}

// decodedArray decodes utf8 or binary into Go's memory. A panic about an index becomes an error
// where decoders are called.
func decodedArray(d *array.Dictionary) arrow.Array {
	b := array.NewBinaryBuilder(arrowmemory.DefaultAllocator, d.Dictionary().DataType().(arrow.BinaryDataType))
	defer b.Release()
	b.Reserve(d.Len())
	value := func(i int) []byte { return nil }
	switch values := d.Dictionary().(type) {
	case *array.String:
		value = func(i int) []byte { return []byte(values.Value(i)) }
	case *array.Binary:
		value = values.Value
	}
	for row := range d.Len() {
		if d.IsNull(row) || d.Dictionary().IsNull(d.GetValueIndex(row)) {
			b.AppendNull()
		} else {
			b.Append(value(d.GetValueIndex(row)))
		}
	}
	return b.NewArray()
}
