package source

import (
	"bufio"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/source/infer"
)

// JSONOptions describe files of JSON lines. The zero value infers the columns.
type JSONOptions struct {
	// Schema has the columns. Nil infers them from the beginning of the first file.
	Schema *arrow.Schema
	// InferRows is the number of rows that columns are inferred from. Zero means
	// 10,000, a negative number all rows. Members that occur only later are left out, and
	// a later value of another type is an error.
	InferRows int
}

// JSON is a source of files of JSON objects, usually one on each line: see [Parquet] for
// paths, folders and partitions. A member that an object does not have is null.
func JSON(list []string, options JSONOptions) (Source, error) {
	return newStreams(jsonFormat{options}, list, []string{".json", ".jsonl", ".ndjson"})
}

// JSONReader is a source of JSON objects in r, which can be read once. It reads the
// objects that columns are inferred from. The name stands for its path.
func JSONReader(name string, r io.Reader, options JSONOptions) (Source, error) {
	return newStream(jsonFormat{options}, name, r)
}

type jsonFormat struct{ JSONOptions }

func (f jsonFormat) name() string { return "json" }

func (f jsonFormat) pinned() bool { return false }

func (f jsonFormat) schema(file *stream) (*arrow.Schema, error) {
	if f.Schema != nil {
		return nullableWhere(f.Schema, unread), nil
	}
	rows := f.InferRows
	if rows == 0 {
		rows = defaultInferRows
	}
	return infer.JSON(file, rows)
}

func (f jsonFormat) decode(file *stream, schema *arrow.Schema, columns []string, rows int, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	fields := make([]arrow.Field, len(columns))
	for i, name := range columns {
		found, _ := schema.FieldsByName(name)
		fields[i] = found[0]
	}
	return &jsonRecords{lines: bufio.NewReaderSize(file, 1<<20), schema: arrow.NewSchema(fields, nil), rows: rows, allocator: allocator}, nil
}
