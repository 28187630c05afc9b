package sink

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// nestedWriter writes files with lists, structs and maps, by arrow-go.
type nestedWriter struct {
	writer *pqarrow.FileWriter
	schema *arrow.Schema
	wrote  bool
	// ids are those of the columns, or nil. The footer gets them behind those of arrow-go.
	ids []FieldID
	to  *footerWriter
}

func newNestedWriter(w io.Writer, schema, values *arrow.Schema, properties *parquet.WriterProperties, ids []FieldID) (*nestedWriter, error) {
	for _, field := range schema.Fields() {
		if nested, ok := field.Type.(arrow.NestedType); ok {
			for _, below := range nested.Fields() {
				if firstRefused(below.Type, func(t arrow.DataType) bool { return t.ID() != arrow.DICTIONARY && t.ID() != arrow.DURATION }) != nil {
					return nil, fmt.Errorf("column %q of %v: dictionaries and durations within nested types are not supported: %w", field.Name, field.Type, ErrUnsupported)
				}
			}
		}
	}
	to := &footerWriter{Writer: w}
	writer, err := pqarrow.NewFileWriter(values, to, properties, pqarrow.NewArrowWriterProperties())
	if err != nil {
		return nil, err
	}
	return &nestedWriter{writer: writer, schema: values, ids: ids, to: to}, nil
}

// Write implements rowGroups.
func (n *nestedWriter) Write(_ context.Context, records []arrow.Record) error {
	plain := make([]arrow.Record, len(records))
	rows := int64(0)
	for i, record := range records {
		plain[i] = valuesOf(record, n.schema)
		defer plain[i].Release()
		rows += record.NumRows()
	}
	table := array.NewTableFromRecords(n.schema, plain)
	defer table.Release()
	n.wrote = true
	return n.writer.WriteTable(table, max(rows, 1))
}

// Close implements rowGroups.
func (n *nestedWriter) Close(ctx context.Context) error {
	if !n.wrote {
		if err := n.Write(ctx, nil); err != nil {
			return err
		}
	}
	if len(n.ids) == 0 {
		return n.writer.Close()
	}
	n.to.footer = &bytes.Buffer{}
	if err := n.writer.Close(); err != nil {
		return err
	}
	return n.to.finish(n.ids)
}

// Abort implements rowGroups.
func (n *nestedWriter) Abort() {}

// valuesOf returns a record with values in place of dictionaries, and integers in place of durations.
func valuesOf(record arrow.Record, schema *arrow.Schema) arrow.Record {
	columns := slices.Clone(record.Columns())
	for i, column := range columns {
		switch a := column.(type) {
		case *array.Dictionary:
			columns[i] = decoded(a)
			defer columns[i].Release()
		case *array.Duration:
			counts := array.NewData(arrow.PrimitiveTypes.Int64, a.Len(), a.Data().Buffers(), nil, a.NullN(), a.Data().Offset())
			columns[i] = array.MakeFromData(counts)
			counts.Release()
			defer columns[i].Release()
		}
	}
	return array.NewRecord(schema, columns, record.NumRows())
}

// decoded returns the values of a dictionary array of text or binary values.
func decoded(d *array.Dictionary) arrow.Array {
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, d.Dictionary().DataType())
	defer builder.Release()
	builder.Reserve(d.Len())
	for row := range d.Len() {
		at := -1
		if d.IsValid(row) {
			at = d.GetValueIndex(row)
		}
		switch values := d.Dictionary().(type) {
		case *array.String:
			if b := builder.(*array.StringBuilder); at < 0 || values.IsNull(at) {
				b.AppendNull()
			} else {
				b.Append(values.Value(at))
			}
		case *array.Binary:
			if b := builder.(*array.BinaryBuilder); at < 0 || values.IsNull(at) {
				b.AppendNull()
			} else {
				b.Append(values.Value(at))
			}
		}
	}
	return builder.NewArray()
}
