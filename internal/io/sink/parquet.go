package sink

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/flight"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// ParquetOptions describe a Parquet file.
type ParquetOptions struct {
	// Compression is "snappy", "zstd", "gzip", "brotli" or "none". Empty means snappy.
	Compression string
	// GroupRows is the number of rows of a row group. Zero means 262,144.
	GroupRows int64
}

// defaultGroupRows is the number of rows of a row group: enough for a column to be
// compressed well, few enough for readers to decode several row groups in parallel.
const defaultGroupRows = 1 << 18

// createdBy is the writer that a file names. Its minima of texts are right, unlike those of
// dictionaries that arrow-go alone has written.
const createdBy = "gpuframe version 1.0.0"

var codecs = map[string]compress.Compression{
	"": compress.Codecs.Snappy, "snappy": compress.Codecs.Snappy, "zstd": compress.Codecs.Zstd,
	"gzip": compress.Codecs.Gzip, "brotli": compress.Codecs.Brotli, "none": compress.Codecs.Uncompressed,
}

// Parquet is the Parquet format, with statistics and the Arrow schema, so that types such
// as dictionaries are read as they were written. Seconds become milliseconds.
func Parquet(options ParquetOptions) Format { return parquetFormat{options} }

type parquetFormat struct{ ParquetOptions }

func (parquetFormat) name() string { return "parquet" }

func (f parquetFormat) begin(w io.Writer, schema *arrow.Schema) (encoder, error) {
	codec, ok := codecs[f.Compression]
	if !ok {
		return nil, fmt.Errorf("compression %q, expected snappy, zstd, gzip, brotli or none: %w", f.Compression, ErrArgument)
	}
	if f.GroupRows < 0 {
		return nil, fmt.Errorf("row groups of %d rows, expected 1 or more: %w", f.GroupRows, ErrArgument)
	}
	if f.GroupRows == 0 {
		f.GroupRows = defaultGroupRows
	}
	if err := holdsTypes(schema, inParquet); err != nil {
		return nil, err
	}
	for _, field := range schema.Fields() {
		if nested, ok := field.Type.(arrow.NestedType); ok {
			for _, below := range nested.Fields() {
				if firstRefused(below.Type, func(t arrow.DataType) bool { return t.ID() != arrow.DICTIONARY && t.ID() != arrow.DURATION }) != nil {
					return nil, fmt.Errorf("column %q of %v: dictionaries and durations within nested types are not supported: %w", field.Name, field.Type, ErrUnsupported)
				}
			}
		}
	}
	values := valueSchema(schema)
	writer, err := pqarrow.NewFileWriter(values, w,
		parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithMaxRowGroupLength(f.GroupRows), parquet.WithCreatedBy(createdBy)), pqarrow.NewArrowWriterProperties())
	if err != nil {
		return nil, unsupported(err)
	}
	return &parquetEncoder{writer: writer, schema: values, groupRows: f.GroupRows}, nil
}

// valueSchema returns the schema with the values' types in place of dictionaries, and integers
// in place of durations, which Parquet lacks. Its metadata has the original schema, which
// restores both when the file is read. Parquet makes its own dictionaries; arrow-go's writer of
// dictionaries loses columns with nulls.
func valueSchema(schema *arrow.Schema) *arrow.Schema {
	fields := schema.Fields()
	for i, field := range fields {
		switch t := field.Type.(type) {
		case *arrow.DictionaryType:
			fields[i].Type = t.ValueType
		case *arrow.DurationType:
			fields[i].Type = arrow.PrimitiveTypes.Int64
		}
	}
	original := base64.StdEncoding.EncodeToString(flight.SerializeSchema(schema, arrowmemory.DefaultAllocator))
	entries := schema.Metadata()
	metadata := arrow.NewMetadata(append(slices.Clone(entries.Keys()), "ARROW:schema"), append(slices.Clone(entries.Values()), original))
	return arrow.NewSchema(fields, &metadata)
}

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

// parquetEncoder collects records until they fill a row group.
type parquetEncoder struct {
	writer    *pqarrow.FileWriter
	schema    *arrow.Schema
	groupRows int64
	pending   []arrow.Record
	rows      int64 // of pending
	wrote     bool
}

func (e *parquetEncoder) write(ctx context.Context, record arrow.Record) error {
	record = valuesOf(record, e.schema)
	defer record.Release()
	for record.NumRows() > 0 {
		n := min(record.NumRows(), e.groupRows-e.rows)
		e.pending = append(e.pending, record.NewSlice(0, n))
		e.rows += n
		if e.rows == e.groupRows {
			if err := e.group(ctx); err != nil {
				return err
			}
		}
		if n == record.NumRows() {
			return nil
		}
		record = record.NewSlice(n, record.NumRows())
		defer record.Release()
	}
	return nil
}

// group writes the pending records as a row group.
func (e *parquetEncoder) group(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	table := array.NewTableFromRecords(e.schema, e.pending)
	defer table.Release()
	defer e.drop()
	e.wrote = true
	return unsupported(e.writer.WriteTable(table, max(e.rows, 1)))
}

func (e *parquetEncoder) end(ctx context.Context) error {
	if e.rows > 0 || !e.wrote {
		if err := e.group(ctx); err != nil {
			return err
		}
	}
	return unsupported(e.writer.Close())
}

func (e *parquetEncoder) drop() {
	for _, record := range e.pending {
		record.Release()
	}
	e.pending, e.rows = nil, 0
}

// inParquet reports whether arrow-go writes a type to Parquet and reads it again.
func inParquet(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return slices.Contains([]arrow.Type{arrow.STRING, arrow.BINARY}, t.ValueType.ID())
	case *arrow.StructType:
		return t.NumFields() > 0
	case *arrow.FixedSizeBinaryType:
		return t.ByteWidth > 0
	}
	switch t.ID() {
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64, arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY,
		arrow.DATE32, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL128, arrow.DECIMAL256, arrow.LIST, arrow.MAP:
		return true
	}
	return false
}

// holdsTypes checks the types of a schema and below.
func holdsTypes(schema *arrow.Schema, holds func(arrow.DataType) bool) error {
	for _, field := range schema.Fields() {
		if refused := firstRefused(field.Type, holds); refused != nil {
			return fmt.Errorf("column %q of %v: %v is not supported: cast or drop the column: %w", field.Name, field.Type, refused, ErrUnsupported)
		}
	}
	return nil
}

// firstRefused returns the first type of a tree that is not held, or nil.
func firstRefused(t arrow.DataType, holds func(arrow.DataType) bool) arrow.DataType {
	if !holds(t) {
		return t
	}
	if nested, ok := t.(arrow.NestedType); ok {
		for _, field := range nested.Fields() {
			if refused := firstRefused(field.Type, holds); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// unsupported adds the condition ErrUnsupported to an error about a type.
func unsupported(err error) error {
	if errors.Is(err, arrow.ErrNotImplemented) || errors.Is(err, arrow.ErrInvalid) {
		return fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	return err
}
