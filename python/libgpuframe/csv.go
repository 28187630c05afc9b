//go:build cgo && !(386 || arm || mips || mipsle)

package main

// #include <stdint.h>
import "C"

import (
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/csv"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// csvOptions say how a CSV file is written. The zero value stands for commas, a
// first line of names, and empty text or NULL for nulls.
type csvOptions struct {
	Delimiter string            `json:"delimiter"`
	NoHeader  bool              `json:"no_header"`
	Nulls     []string          `json:"null_values"`
	Types     map[string]string `json:"types"`
}

// csvTypes are the types that a CSV column can be given by name. What has none is
// recognised by its first value.
var csvTypes = map[string]arrow.DataType{
	"bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16,
	"int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16,
	"uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float32": arrow.PrimitiveTypes.Float32, "float64": arrow.PrimitiveTypes.Float64,
	"string": arrow.BinaryTypes.String, "utf8": arrow.BinaryTypes.String,
	"date32": arrow.FixedWidthTypes.Date32, "date64": arrow.FixedWidthTypes.Date64,
	"timestamp[s]": arrow.FixedWidthTypes.Timestamp_s, "timestamp[ms]": arrow.FixedWidthTypes.Timestamp_ms,
	"timestamp[us]": arrow.FixedWidthTypes.Timestamp_us, "timestamp[ns]": arrow.FixedWidthTypes.Timestamp_ns,
}

// gpuframe_read_csv reads a CSV file. The options are JSON: columns, and CSV with
// delimiter, no_header, null_values and types by column.
//
//export gpuframe_read_csv
func gpuframe_read_csv(h C.uint64_t, path, options *C.char, out *C.uint64_t) *C.char {
	return read(h, path, options, out, openCSV)
}

func openCSV(path string, r reading, allocator arrowmemory.Allocator) (array.RecordReader, io.Closer, error) {
	const rowsAtOnce = 1 << 16
	options := []csv.Option{csv.WithAllocator(allocator), csv.WithHeader(!r.CSV.NoHeader), csv.WithChunk(rowsAtOnce), csv.WithNullReader(true, r.CSV.Nulls...)}
	if r.CSV.Delimiter != "" {
		delimiter, width := utf8.DecodeRuneInString(r.CSV.Delimiter)
		if width != len(r.CSV.Delimiter) {
			return nil, nil, fmt.Errorf("delimiter %q: one character is meant: %w", r.CSV.Delimiter, errArgument)
		}
		options = append(options, csv.WithComma(delimiter))
	}
	if len(r.CSV.Types) > 0 {
		types := map[string]arrow.DataType{}
		for name, text := range r.CSV.Types {
			dataType, ok := csvTypes[text]
			if !ok {
				return nil, nil, fmt.Errorf("column %q: CSV files are not read as %q: %w", name, text, errArgument)
			}
			types[name] = dataType
		}
		options = append(options, csv.WithColumnTypes(types))
	}
	if len(r.Columns) > 0 {
		options = append(options, csv.WithIncludeColumns(r.Columns))
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return csv.NewInferringReader(opened, options...), opened, nil
}
