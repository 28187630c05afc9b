package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowcsv "github.com/apache/arrow/go/v17/arrow/csv"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/arraytext"
	"github.com/gpuframe/gpuframe/internal/hostarray"
)

// CSVOptions describe a CSV file. The zero value stands for commas, a first line of
// names, and empty text for nulls.
type CSVOptions struct {
	// Delimiter is the character between values. Zero means a comma.
	Delimiter rune
	// NoHeader leaves out the line of names.
	NoHeader bool
	// Null is the text of nulls. The empty text is that of empty strings, too.
	Null string
}

// CSV is the CSV format. It holds numbers, decimals, bools, text, dates and timestamps.
func CSV(options CSVOptions) Format { return csvFormat{options} }

type csvFormat struct{ CSVOptions }

func (csvFormat) name() string { return "csv" }

// inCSV reports whether a type is written to CSV and arrow-go reads it again.
func inCSV(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.DECIMAL128, arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64, arrow.STRING, arrow.LARGE_STRING, arrow.DATE32, arrow.TIMESTAMP:
		return true
	}
	return false
}

func (f csvFormat) begin(w io.Writer, schema *arrow.Schema) (encoder, error) {
	if err := holdsTypes(schema, inCSV); err != nil {
		return nil, err
	}
	if f.Delimiter == 0 {
		f.Delimiter = ','
	}
	options := func(header bool) []arrowcsv.Option {
		return []arrowcsv.Option{arrowcsv.WithComma(f.Delimiter), arrowcsv.WithHeader(header), arrowcsv.WithNullWriter(f.Null)}
	}
	first := !f.NoHeader
	schema = withoutDecimals(schema)
	return &textEncoder{w: w, header: func(to io.Writer) error {
		if !first {
			return nil
		}
		var names bytes.Buffer
		writer := arrowcsv.NewWriter(&names, schema, options(true)...)
		record, err := hostarray.EmptyRecord(schema)
		if err != nil {
			return err
		}
		defer record.Release()
		if err := writer.Write(record); err != nil {
			return err
		}
		if err := writer.Flush(); err != nil {
			return err
		}
		_, err = to.Write(names.Bytes())
		return err
	}, encode: func(to io.Writer, record arrow.Record) error {
		record = decimalsAsText(record, schema)
		defer record.Release()
		if schema.NumFields() == 1 {
			return csvColumn(to, record, options(false))
		}
		writer := arrowcsv.NewWriter(to, schema, options(false)...)
		if err := writer.Write(record); err != nil {
			return err
		}
		return writer.Flush()
	}}, nil
}

// withoutDecimals is a schema with text instead of decimals.
func withoutDecimals(schema *arrow.Schema) *arrow.Schema {
	fields := slices.Clone(schema.Fields())
	for i := range fields {
		if fields[i].Type.ID() == arrow.DECIMAL128 {
			fields[i].Type = arrow.BinaryTypes.String
		}
	}
	return arrow.NewSchema(fields, nil)
}

// decimalsAsText makes text of the decimals of a record, with all their digits: arrow-go rounds
// them to 64 bits when it writes CSV.
func decimalsAsText(record arrow.Record, schema *arrow.Schema) arrow.Record {
	columns := slices.Clone(record.Columns())
	for i, column := range columns {
		values, ok := column.(*array.Decimal128)
		if !ok {
			continue
		}
		text := array.NewStringBuilder(memory.DefaultAllocator)
		scale := values.DataType().(*arrow.Decimal128Type).Scale
		for row := range values.Len() {
			if values.IsNull(row) {
				text.AppendNull()
			} else {
				text.Append(arraytext.Decimal(values.Value(row).BigInt(), scale))
			}
		}
		columns[i] = text.NewArray()
		text.Release()
		defer columns[i].Release()
	}
	return array.NewRecord(schema, columns, record.NumRows())
}

// csvColumn writes the rows of a table of one column. Readers skip empty lines, so an
// empty value needs quotes, which arrow-go does not write.
func csvColumn(to io.Writer, record arrow.Record, options []arrowcsv.Option) error {
	var line bytes.Buffer
	writer := arrowcsv.NewWriter(&line, record.Schema(), options...)
	for row := range record.NumRows() {
		one := record.NewSlice(row, row+1)
		err := writer.Write(one)
		one.Release()
		if err != nil {
			return err
		}
		text := line.Bytes()
		if len(text) == 1 {
			text = []byte("\"\"\n")
		}
		if _, err := to.Write(text); err != nil {
			return err
		}
		line.Reset()
	}
	return nil
}

// JSON is the format of JSON lines: an object for each row, with the columns in their
// order. It holds numbers, bools, text, dates, times, and lists and structs of them.
func JSON() Format { return jsonFormat{} }

type jsonFormat struct{}

func (jsonFormat) name() string { return "json" }

// inJSON reports whether arrow-go writes a type to JSON and reads it again.
func inJSON(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64, arrow.STRING, arrow.LARGE_STRING,
		arrow.DATE32, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.LIST, arrow.STRUCT, arrow.FIXED_SIZE_LIST:
		return true
	}
	return false
}

func (jsonFormat) begin(w io.Writer, schema *arrow.Schema) (encoder, error) {
	if err := holdsTypes(schema, inJSON); err != nil {
		return nil, err
	}
	keys := make([][]byte, schema.NumFields())
	for i, field := range schema.Fields() {
		name, err := json.Marshal(field.Name)
		if err != nil {
			return nil, err
		}
		lead := byte(',')
		if i == 0 {
			lead = '{'
		}
		keys[i] = append(append([]byte{lead}, name...), ':')
	}
	return &textEncoder{w: w, header: func(io.Writer) error { return nil }, encode: func(to io.Writer, record arrow.Record) error {
		return jsonLines(to, keys, record)
	}}, nil
}

func jsonLines(to io.Writer, keys [][]byte, record arrow.Record) error {
	var line []byte
	for row := range int(record.NumRows()) {
		line = line[:0]
		for i, column := range record.Columns() {
			value, err := json.Marshal(column.GetOneForMarshal(row))
			if err != nil {
				return fmt.Errorf("column %q, row %d: %w: %w", record.ColumnName(i), row, err, ErrUnsupported)
			}
			line = append(append(line, keys[i]...), value...)
		}
		if len(keys) == 0 {
			line = append(line, '{')
		}
		line = append(line, "}\n"...)
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// textEncoder encodes parts of records in parallel and writes them in order.
type textEncoder struct {
	w      io.Writer
	header func(io.Writer) error
	encode func(io.Writer, arrow.Record) error
	begun  bool
}

// partRows is the number of rows that a goroutine encodes at a time.
const partRows = 1 << 13

func (e *textEncoder) start() error {
	if e.begun {
		return nil
	}
	e.begun = true
	return e.header(e.w)
}

func (e *textEncoder) write(ctx context.Context, record arrow.Record) error {
	if err := e.start(); err != nil {
		return err
	}
	workers := int64(runtime.GOMAXPROCS(0))
	for begin := int64(0); begin < record.NumRows(); begin += workers * partRows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := e.parts(record, begin, min(begin+workers*partRows, record.NumRows())); err != nil {
			return err
		}
	}
	return nil
}

// parts encodes rows of a record, each part on a goroutine.
func (e *textEncoder) parts(record arrow.Record, begin, end int64) error {
	n := int((end - begin + partRows - 1) / partRows)
	texts, failures := make([]bytes.Buffer, n), make([]error, n)
	var encoding sync.WaitGroup
	for i := range n {
		from := begin + int64(i)*partRows
		part := record.NewSlice(from, min(from+partRows, end))
		encoding.Go(func() {
			defer part.Release()
			failures[i] = guarded(func() error { return e.encode(&texts[i], part) })
		})
	}
	encoding.Wait()
	for i := range n {
		if failures[i] != nil {
			return failures[i]
		}
		if _, err := e.w.Write(texts[i].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (e *textEncoder) end(context.Context) error { return e.start() }

func (e *textEncoder) drop() {}
