//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	files "github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/io/source/infer"
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
	types, err := r.CSV.types()
	if err != nil {
		return nil, nil, err
	}
	opened, err := files.OpenCSV(context.Background(), path, files.CSVOptions{Delimiter: comma, NoHeader: r.CSV.NoHeader, Nulls: r.CSV.Nulls, Types: types, InferRows: -1})
	if err != nil {
		return nil, nil, ofCSV(err)
	}
	columns, err := restrict(opened.Schema(), r.Columns)
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	const rowsAtOnce = 1 << 16
	reader, err := opened.Records(columns, rowsAtOnce, allocator)
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	return reader, opened, nil
}

// ofCSV returns an error in terms of Python's arguments. The path is added later.
func ofCSV(err error) error {
	var column *files.ColumnError
	if errors.As(err, &column) {
		return fmt.Errorf("types: %w", noColumnOf(column.Name, column.Columns))
	}
	var path *files.Error
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

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

// restrict returns the names of the columns of a schema that were asked for, or of all.
func restrict(schema *arrow.Schema, asked []string) (columns []string, err error) {
	for _, name := range asked {
		if !schema.HasField(name) {
			return nil, noColumn(name, schema)
		}
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	if len(asked) > 0 {
		return columns, nil
	}
	for _, field := range schema.Fields() {
		columns = append(columns, field.Name)
	}
	return columns, nil
}
