package source

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source/infer"
)

// JSONOptions describe files of JSON lines. The zero value infers the columns.
type JSONOptions struct {
	// Schema has the columns; other members are left out. Nil infers the columns from the
	// beginnings of the files. Null is a value of each column, member and element, also if the
	// schema declares it as not nullable.
	Schema *arrow.Schema
	// InferRows is the number of rows that columns are inferred from, as in [CSVOptions]. A
	// member that occurs only later is an error. A later value of another type is one, too.
	InferRows int
	// Strict means that the first file alone gives the columns. Otherwise a query has the
	// members of all files, with a type that holds the values of all.
	Strict bool
}

// JSON is a source of files of JSON objects, one on each line: see [Files.Parquet] for paths,
// folders and partitions, and [Files.CSV] for compression. A member that an object does not have is null.
func (f Files) JSON(list []string, options JSONOptions) (Source, error) {
	return f.streams(jsonFormat{options}, list, jsonExtensions)
}

// JSONReader is a source of JSON objects in r, which can be read once. It reads the
// objects that columns are inferred from. The name stands for its path.
func JSONReader(name string, r io.Reader, options JSONOptions) (Source, error) {
	return newStream(jsonFormat{options}, name, r)
}

type jsonFormat struct{ JSONOptions }

func (f jsonFormat) name() string { return "json" }

func (f jsonFormat) pinned() bool { return false }

func (f jsonFormat) learn(files beginnings) (decoder, error) {
	if f.Schema != nil {
		if name, twice := repeated(fieldNames(f.Schema)); twice {
			return nil, files.fail(0, fmt.Errorf("two columns of the schema have the name %q: %w", name, buffer.ErrSchema))
		}
		fields, _ := changedFields(plainSchema(f.Schema).Fields(), nullableThroughout)
		return jsonDecoder{arrow.NewSchema(fields, nil), false}, nil
	}
	var all infer.Objects
	for place := range files.places(f.Strict) {
		err := files.open(place, func(file *stream) error {
			return learnObjects(file, inferRows(f.InferRows, place, files.count), &all)
		})
		if err != nil {
			return nil, err
		}
	}
	return jsonDecoder{all.Schema(), true}, nil
}

// learnObjects learns the members of the first rows of a file.
func learnObjects(file *stream, rows int, all *infer.Objects) error {
	read := newBlocks(file, false)
	for row := 0; (rows < 0 || row < rows) && read.more(); {
		b, err := read.next(1)
		if err != nil {
			return err
		}
		if isBlank(b.text) {
			continue
		}
		row++
		if err := all.Learn(b.text); err != nil {
			return fmt.Errorf("line %d: %w", b.line, err)
		}
	}
	return nil
}

// jsonDecoder decodes files of known columns.
type jsonDecoder struct {
	all *arrow.Schema
	// inferred reports that members without a column are errors.
	inferred bool
}

func (d jsonDecoder) schema() *arrow.Schema { return d.all }

func (d jsonDecoder) decode(file *stream, columns []string, rows int, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	decoding := d.decoding(columns, allocator)
	return &blockRecords{blocks: newBlocks(file, false), schema: decoding.read, rows: rows, decode: decoding.record}, nil
}

// decoding returns the decoding of columns.
func (d jsonDecoder) decoding(columns []string, allocator arrowmemory.Allocator) *jsonDecoding {
	decoding := &jsonDecoding{jsonDecoder: d, selected: columns, allocator: allocator}
	var fields []arrow.Field
	for _, field := range d.all.Fields() {
		if slices.Contains(columns, field.Name) {
			fields = append(fields, field)
		}
	}
	decoding.read = arrow.NewSchema(fields, nil)
	return decoding
}
