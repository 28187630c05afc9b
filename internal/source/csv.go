package source

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowcsv "github.com/apache/arrow/go/v17/arrow/csv"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/source/infer"
)

// CSVOptions describe CSV files. The zero value stands for commas, a first line of names,
// and empty text for nulls.
type CSVOptions struct {
	// Delimiter is the character between values. Zero means a comma.
	Delimiter rune
	// NoHeader means that the first line has values. The columns are called f0, f1, …
	NoHeader bool
	// Nulls are the texts that stand for null. Nil means empty text, and NULL.
	Nulls []string
	// Types are the types of columns that are not inferred.
	Types map[string]arrow.DataType
	// InferRows is the number of rows that types are inferred from. Zero means 10,000,
	// a negative number all rows. A later value of another type is an error.
	InferRows int
}

// defaultInferRows is the number of rows that types are inferred from.
const defaultInferRows = 10_000

// CSV is a source of CSV files: see [Parquet] for paths, folders and partitions. Types
// are inferred from the beginning of the first file; every file has the same columns.
func CSV(list []string, options CSVOptions) (Source, error) {
	f, err := csvFormatOf(options)
	if err != nil {
		return nil, pathError("csv", list, err)
	}
	return newStreams(f, list, []string{".csv", ".tsv", ".txt"})
}

// CSVReader is a source of one CSV file in r, whose rows can be read once. It reads the
// rows that types are inferred from. The name stands for its path.
func CSVReader(name string, r io.Reader, options CSVOptions) (Source, error) {
	f, err := csvFormatOf(options)
	if err != nil {
		return nil, pathError("csv", []string{name}, err)
	}
	return newStream(f, name, r)
}

type csvFormat struct{ CSVOptions }

func csvFormatOf(o CSVOptions) (csvFormat, error) {
	if o.Delimiter == 0 {
		o.Delimiter = ','
	}
	if strings.ContainsRune("\"\r\n\uFFFD", o.Delimiter) {
		return csvFormat{}, fmt.Errorf("the delimiter is %q, expected a character other than a quote or a line end: %w", o.Delimiter, ErrArgument)
	}
	if o.Nulls == nil {
		o.Nulls = []string{"", "NULL", "null"}
	}
	if o.InferRows == 0 {
		o.InferRows = defaultInferRows
	}
	return csvFormat{o}, nil
}

func (f csvFormat) name() string { return "csv" }

func (f csvFormat) pinned() bool { return false }

// unmarked returns the text after a byte order mark.
func unmarked(file io.Reader) io.Reader {
	text := bufio.NewReader(file)
	if mark, err := text.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = text.Discard(3)
	}
	return text
}

func (f csvFormat) lines(file io.Reader) *csv.Reader {
	lines := csv.NewReader(file)
	lines.Comma, lines.ReuseRecord = f.Delimiter, true
	return lines
}

func (f csvFormat) schema(file *stream) (*arrow.Schema, error) {
	lines := f.lines(unmarked(file))
	columns, first, err := f.columns(lines)
	if err != nil {
		return nil, err
	}
	for name := range f.Types {
		if !slices.ContainsFunc(columns, func(c infer.Column) bool { return c.Name == name }) {
			return nil, unknownColumn(name, columnNames(columns), buffer.ErrSchema)
		}
	}
	if first != nil {
		infer.Learn(columns, first, f.Nulls)
	}
	for row := 0; (f.InferRows < 0 || row < f.InferRows) && !infer.Decided(columns); row++ {
		values, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		infer.Learn(columns, values, f.Nulls)
	}
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		fields[i] = arrow.Field{Name: columns[i].Name, Type: columns[i].Type(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil), nil
}

// columns reads the first line: names, or values of columns without names.
func (f csvFormat) columns(lines *csv.Reader) (columns []infer.Column, first []string, err error) {
	line, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("the file is empty, expected a header or a row: %w", ErrContents)
	}
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for i, text := range line {
		name := strings.Clone(text)
		if f.NoHeader {
			name = fmt.Sprintf("f%d", i)
		}
		if seen[name] {
			return nil, nil, fmt.Errorf("two columns have the name %q: %w", name, ErrContents)
		}
		seen[name] = true
		columns = append(columns, infer.Column{Name: name, Given: f.Types[name]})
	}
	if f.NoHeader {
		first = line
	}
	return columns, first, nil
}

func columnNames(columns []infer.Column) []string {
	listed := make([]string, len(columns))
	for i, c := range columns {
		listed[i] = c.Name
	}
	return listed
}

func (f csvFormat) decode(file *stream, schema *arrow.Schema, columns []string, rows int, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	text := unmarked(file)
	// The header is read twice, to check it before arrow-go reads it.
	var begin bytes.Buffer
	lines := f.lines(io.TeeReader(text, &begin))
	has, _, err := f.columns(lines)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(columnNames(has), fieldNames(schema)) {
		return nil, fmt.Errorf("its columns are %q, those of the first file %q: %w", columnNames(has), fieldNames(schema), buffer.ErrSchema)
	}
	if !f.NoHeader {
		if _, err := lines.Read(); errors.Is(err, io.EOF) { // arrow-go's reader panics on a file without rows
			return array.NewRecordReader(schema, nil)
		}
	}
	whole := io.MultiReader(&begin, text)
	common := []arrowcsv.Option{arrowcsv.WithAllocator(allocator), arrowcsv.WithHeader(!f.NoHeader), arrowcsv.WithChunk(rows),
		arrowcsv.WithNullReader(true, f.Nulls...), arrowcsv.WithComma(f.Delimiter)}
	if f.NoHeader || len(columns) == 0 { // otherwise arrow-go reads the first row as a header
		return csvValues{arrowcsv.NewReader(whole, schema, common...)}, nil
	}
	types := map[string]arrow.DataType{}
	for _, name := range columns {
		found, _ := schema.FieldsByName(name)
		types[name] = found[0].Type
	}
	return csvValues{arrowcsv.NewInferringReader(whole, append(common, arrowcsv.WithColumnTypes(types), arrowcsv.WithIncludeColumns(columns))...)}, nil
}

// csvValues adds the remedy to errors of numbers, whose column arrow-go does not name.
type csvValues struct{ array.RecordReader }

func (r csvValues) Err() error {
	err := r.RecordReader.Err()
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	return fmt.Errorf("%q does not fit the type of its column: give the type in CSVOptions.Types, or infer it from more rows with InferRows: %w", number.Num, err)
}
