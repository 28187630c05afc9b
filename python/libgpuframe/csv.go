//go:build cgo && !(386 || arm || mips || mipsle)

package main

// #include <stdint.h>
import "C"

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowcsv "github.com/apache/arrow/go/v17/arrow/csv"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/source/infer"
)

// csvOptions describe the format of a CSV file. The zero value stands for commas, a first
// line of names, and empty text or NULL for nulls.
type csvOptions struct {
	Delimiter string            `json:"delimiter"`
	NoHeader  bool              `json:"no_header"`
	Nulls     []string          `json:"null_values"`
	Types     map[string]string `json:"types"`
}

// csvTypes are the types that types= may name for a CSV column.
var csvTypes = map[string]arrow.DataType{
	"bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16,
	"int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16,
	"uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float32": arrow.PrimitiveTypes.Float32, "float64": arrow.PrimitiveTypes.Float64,
	"string": arrow.BinaryTypes.String, "utf8": arrow.BinaryTypes.String,
	"date32": arrow.FixedWidthTypes.Date32, "date64": arrow.FixedWidthTypes.Date64,
	"timestamp[s]": infer.Timestamp(arrow.Second), "timestamp[ms]": infer.Timestamp(arrow.Millisecond),
	"timestamp[us]": infer.Timestamp(arrow.Microsecond), "timestamp[ns]": infer.Timestamp(arrow.Nanosecond),
}

// gpuframe_read_csv reads a CSV file. The options are JSON: columns, and CSV with
// delimiter, no_header, null_values and types by column.
//
//export gpuframe_read_csv
func gpuframe_read_csv(h C.uint64_t, path, options *C.char, out *C.uint64_t) *C.char {
	return read("read_csv", h, path, options, out, openCSV)
}

func openCSV(path string, r reading, allocator arrowmemory.Allocator) (array.RecordReader, io.Closer, error) {
	comma, err := r.CSV.comma()
	if err != nil {
		return nil, nil, err
	}
	given, err := r.CSV.types()
	if err != nil {
		return nil, nil, err
	}
	schema, rows, err := csvSchema(path, comma, given, r.CSV)
	if err != nil {
		return nil, nil, err
	}
	shown, err := restrict(schema, r.Columns)
	if err != nil {
		return nil, nil, err
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if !rows { // arrow-go's reader panics on a file without rows
		nothing, err := array.NewRecordReader(shown, nil)
		return nothing, opened, err
	}
	const rowsAtOnce = 1 << 16
	common := []arrowcsv.Option{arrowcsv.WithAllocator(allocator), arrowcsv.WithHeader(!r.CSV.NoHeader), arrowcsv.WithChunk(rowsAtOnce),
		arrowcsv.WithNullReader(true, r.CSV.Nulls...), arrowcsv.WithComma(comma)}
	if r.CSV.NoHeader { // otherwise arrow-go reads the first row as a header; the columns are selected later
		return arrowcsv.NewReader(opened, schema, common...), opened, nil
	}
	names, types := make([]string, shown.NumFields()), map[string]arrow.DataType{}
	for i, field := range shown.Fields() {
		names[i], types[field.Name] = field.Name, field.Type
	}
	reader := arrowcsv.NewInferringReader(opened, append(common, arrowcsv.WithColumnTypes(types), arrowcsv.WithIncludeColumns(names))...)
	return &csvReader{RecordReader: reader, schema: shown}, opened, nil
}

// csvReader knows its schema before the first row is read.
type csvReader struct {
	array.RecordReader
	schema *arrow.Schema
}

func (r *csvReader) Schema() *arrow.Schema { return r.schema }

// comma returns the character between values.
func (o csvOptions) comma() (rune, error) {
	if o.Delimiter == "" {
		return ',', nil
	}
	comma, width := utf8.DecodeRuneInString(o.Delimiter)
	if width != len(o.Delimiter) || comma == '"' || comma == '\r' || comma == '\n' {
		return 0, fmt.Errorf("delimiter=%q: pass one character other than a quote or a line end: %w", o.Delimiter, errArgument)
	}
	return comma, nil
}

func (o csvOptions) types() (map[string]arrow.DataType, error) {
	types := map[string]arrow.DataType{}
	for name, text := range o.Types {
		dataType, ok := csvTypes[text]
		if !ok {
			return nil, fmt.Errorf("types: column %q: %q is not a type for CSV files: %w", name, text, errArgument)
		}
		types[name] = dataType
	}
	return types, nil
}

// csvSchema reads a file to find the types of its columns: the given type, or the
// narrowest type of all values. It reports whether the file has rows.
func csvSchema(path string, comma rune, given map[string]arrow.DataType, o csvOptions) (schema *arrow.Schema, rows bool, err error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer opened.Close()
	lines := csv.NewReader(opened)
	lines.Comma, lines.ReuseRecord = comma, true
	first, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("the file is empty, expected a header or a row: %w", errContents)
	}
	if err != nil {
		return nil, false, err
	}
	guesses := make([]infer.Column, len(first))
	for i, text := range first {
		name := text
		if o.NoHeader {
			name = fmt.Sprintf("f%d", i)
		}
		guesses[i] = infer.Column{Name: name, Given: given[name]}
	}
	if err := distinct(guesses); err != nil {
		return nil, false, err
	}
	for name := range given {
		if !slices.ContainsFunc(guesses, func(g infer.Column) bool { return g.Name == name }) {
			return nil, false, fmt.Errorf("types: %w", noColumnOf(name, namesOf(guesses)))
		}
	}
	if o.NoHeader {
		infer.Learn(guesses, first, o.Nulls)
		rows = true
	}
	for !rows || !infer.Decided(guesses) {
		values, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err
		}
		infer.Learn(guesses, values, o.Nulls)
		rows = true
	}
	fields := make([]arrow.Field, len(guesses))
	for i := range guesses {
		fields[i] = arrow.Field{Name: guesses[i].Name, Type: guesses[i].Type(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil), rows, nil
}

func namesOf(guesses []infer.Column) (names []string) {
	for _, g := range guesses {
		names = append(names, g.Name)
	}
	return names
}

func distinct(guesses []infer.Column) error {
	seen := map[string]bool{}
	for _, g := range guesses {
		if seen[g.Name] {
			return fmt.Errorf("two columns have the name %q: %w", g.Name, errContents)
		}
		seen[g.Name] = true
	}
	return nil
}

// restrict returns a schema of the named columns, or of all columns if names is empty.
func restrict(schema *arrow.Schema, names []string) (*arrow.Schema, error) {
	if len(names) == 0 {
		return schema, nil
	}
	var fields []arrow.Field
	for _, name := range names {
		found, ok := schema.FieldsByName(name)
		if !ok {
			return nil, noColumn(name, schema)
		}
		fields = append(fields, found[0])
	}
	return arrow.NewSchema(fields, nil), nil
}
