package source

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source/infer"
)

// CSVOptions describe CSV files. The zero value stands for commas, a first line of names,
// and empty text for nulls.
type CSVOptions struct {
	// Delimiter is the character between values. Zero means a comma.
	Delimiter rune
	// NoHeader means that the first line has values. The columns are called f0, f1, …
	NoHeader bool
	// Nulls are the texts that stand for null. Nil means empty text, NULL and null. Text within
	// quotes is never null, but empty text of a column of other types is.
	Nulls []string
	// Types are the types of columns that are not inferred.
	Types map[string]arrow.DataType
	// InferRows is the number of rows that types are inferred from, in each file. Zero means
	// 10,000 of the first file, and of the others that many altogether and 100 of each at
	// least; a negative number means all rows. A later value of another type is an error.
	InferRows int
	// Strict means that every file has the columns of the first one, in their order, and that
	// the first one alone gives the types. Otherwise a query has the columns of all files by
	// name, with a type that holds the values of all; those that a file does not have are null.
	Strict bool
}

// defaultInferRows is the number of rows that types are inferred from.
const defaultInferRows = 10_000

// inferRows returns the number of rows that types are inferred from, of a file of several.
func inferRows(option, place, files int) int {
	const least = 100
	switch {
	case option != 0:
		return option
	case place == 0:
		return defaultInferRows
	}
	return max(least, defaultInferRows/files)
}

// CSV is a source of CSV files: see [Files.Parquet] for paths, folders and partitions. Types
// are inferred from the beginnings of the files. Names that end with .gz and .zst are those of files
// that gzip and Zstandard have compressed.
func (f Files) CSV(list []string, options CSVOptions) (Source, error) {
	format, err := csvFormatOf(options)
	if err != nil {
		return nil, pathError("csv", list, err)
	}
	return f.streams(format, list, csvExtensions)
}

// CSVReader is a source of one CSV file in r, which can be read once. It reads the
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
	if !isDelimiter(o.Delimiter) {
		return csvFormat{}, fmt.Errorf("the delimiter is %q, expected a character other than a quote or a line end: %w", o.Delimiter, ErrArgument)
	}
	if o.Nulls == nil {
		o.Nulls = []string{"", "NULL", "null"}
	}
	return csvFormat{o}, nil
}

func (f csvFormat) name() string { return "csv" }

func (f csvFormat) pinned() bool { return false }

// learn infers the columns of files.
func (f csvFormat) learn(files beginnings) (decoder, error) {
	var columns []infer.Column
	places := map[string]int{}
	for place := range files.places(f.Strict) {
		err := files.open(place, func(file *stream) error {
			return f.learnFile(file, inferRows(f.InferRows, place, files.count), &columns, places)
		})
		if err != nil {
			return nil, err
		}
	}
	for name := range f.Types {
		if _, ok := places[name]; !ok {
			return nil, files.fail(0, unknownColumn(name, columnNames(columns), buffer.ErrSchema))
		}
	}
	d := csvDecoder{csvFormat: f, cut: map[string]bool{}}
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		t, cut := columns[i].Type()
		fields[i] = arrow.Field{Name: columns[i].Name, Type: t, Nullable: true}
		d.cut[columns[i].Name] = cut
	}
	d.all = arrow.NewSchema(fields, nil)
	return d, nil
}

// learnFile widens the types of columns, which have places by name, by rows of a file.
func (f csvFormat) learnFile(file *stream, rows int, columns *[]infer.Column, places map[string]int) error {
	read := newBlocks(file, true)
	header, err := f.header(read)
	if err != nil {
		return err
	}
	own := make([]int, len(header)) // the places of the file's columns
	for i, name := range header {
		place, ok := places[name]
		if !ok {
			place = len(*columns)
			places[name] = place
			*columns = append(*columns, infer.Column{Name: name, Given: f.givenType(name)})
		}
		own[i] = place
	}
	const blockRows = 1000
	for learned := 0; (rows < 0 || learned < rows) && !infer.Decided(*columns) && read.more(); {
		wanted := blockRows
		if rows >= 0 {
			wanted = min(blockRows, rows-learned)
		}
		b, err := read.next(wanted)
		if err != nil {
			return err
		}
		learned += b.rows
		if err := f.learnRows(b, *columns, own); err != nil {
			return err
		}
	}
	return nil
}

// givenType returns the type of a column that is not inferred, or nil.
func (f csvFormat) givenType(name string) arrow.DataType {
	if t := f.Types[name]; t != nil {
		return plainType(t)
	}
	return nil
}

func (f csvFormat) learnRows(b block, columns []infer.Column, own []int) error {
	rows := newCSVRows(b, f.Delimiter)
	for {
		row, line, ok, err := rows.next()
		if err != nil || !ok {
			return err
		}
		if isEmptyLine(row) && len(own) != 1 {
			continue
		}
		if len(row) != len(own) {
			return fmt.Errorf("line %d has the wrong number of fields: %d, expected %d: %w", line, len(row), len(own), ErrContents)
		}
		for i, value := range row {
			if !f.isNull(value, false) {
				columns[own[i]].Learn(value.text)
			}
		}
	}
}

// header reads the names of columns. Without a line of names they have numbers, and the first row
// is read again.
func (f csvFormat) header(read *blocks) (header []string, err error) {
	for read.more() {
		first, err := read.next(1)
		if err != nil {
			return nil, err
		}
		rows := newCSVRows(first, f.Delimiter)
		row, _, ok, err := rows.next()
		if err != nil {
			return nil, err
		}
		if !ok || isEmptyLine(row) {
			continue
		}
		for i, value := range row {
			name := strings.Clone(value.text)
			if f.NoHeader {
				name = fmt.Sprintf("f%d", i)
			}
			header = append(header, name)
		}
		if name, twice := repeated(header); twice {
			return nil, fmt.Errorf("two columns have the name %q: %w", name, ErrContents)
		}
		if f.NoHeader {
			read.again = first
		}
		return header, nil
	}
	return nil, fmt.Errorf("the file is empty, expected a header or a row: %w", ErrContents)
}

// repeated returns a name that occurs twice.
func repeated(names []string) (name string, twice bool) {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return name, true
		}
		seen[name] = true
	}
	return "", false
}

func columnNames(columns []infer.Column) []string {
	listed := make([]string, len(columns))
	for i, c := range columns {
		listed[i] = c.Name
	}
	return listed
}

// csvDecoder decodes files of known columns.
type csvDecoder struct {
	csvFormat
	all *arrow.Schema
	// cut has the columns of timestamps that are read without the last digits of fractions.
	cut map[string]bool
}

func (d csvDecoder) schema() *arrow.Schema { return d.all }

func (d csvDecoder) decode(file *stream, columns []string, rows int, allocator arrowmemory.Allocator) (array.RecordReader, error) {
	read, decoding, err := d.open(file, columns, allocator)
	if err != nil {
		return nil, err
	}
	return &blockRecords{blocks: read, schema: decoding.schema, rows: rows, decode: decoding.record}, nil
}

// open reads the names of a file's columns. It returns the rows behind them, and the decoding of them.
func (d csvDecoder) open(file *stream, columns []string, allocator arrowmemory.Allocator) (read *blocks, decoding *csvDecoding, err error) {
	read = newBlocks(file, true)
	header, err := d.header(read)
	if err != nil {
		return nil, nil, err
	}
	if d.Strict && !slices.Equal(header, fieldNames(d.all)) {
		return nil, nil, fmt.Errorf("its columns are %q, those of the first file %q: %w", header, fieldNames(d.all), buffer.ErrSchema)
	}
	for _, name := range header {
		if !d.all.HasField(name) {
			return nil, nil, fmt.Errorf("it has a column %q since its types were inferred: %w", name, buffer.ErrSchema)
		}
	}
	decoding = &csvDecoding{csvFormat: d.csvFormat, width: len(header), allocator: allocator}
	var fields []arrow.Field
	for _, name := range columns {
		matches, _ := d.all.FieldsByName(name)
		fields = append(fields, matches[0])
		decoding.columns = append(decoding.columns, csvColumn{matches[0], slices.Index(header, name), d.cut[name]})
	}
	decoding.schema = arrow.NewSchema(fields, nil)
	return read, decoding, nil
}
