package sink

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/arrays/arraytext"
)

// CSVOptions describe a CSV file. The zero value stands for commas, a first line of
// names, and empty text for nulls.
type CSVOptions struct {
	// Delimiter is the character between values. Zero means a comma.
	Delimiter rune
	// NoHeader leaves out the line of names.
	NoHeader bool
	// Null is the text of nulls. Texts that equal it, that are empty or that other programs
	// take for nulls are within quotes.
	Null string
}

// CSV is the CSV format. It holds numbers, decimals, bools, text, dates and timestamps.
func CSV(options CSVOptions) Format { return csvFormat{options} }

type csvFormat struct{ CSVOptions }

func (csvFormat) name() string { return "csv" }

// inCSV reports whether a type is written to CSV.
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
	lines := csvLines{delimiter: string(f.Delimiter), null: f.Null}
	return &textEncoder{w: w, header: func(to io.Writer) error {
		if f.NoHeader {
			return nil
		}
		_, err := to.Write(lines.header(schema))
		return err
	}, encode: lines.encode}, nil
}

// csvLines writes rows of CSV.
type csvLines struct{ delimiter, null string }

func (l csvLines) header(schema *arrow.Schema) (line []byte) {
	for i, field := range schema.Fields() {
		if i > 0 {
			line = append(line, l.delimiter...)
		}
		line = l.text(line, field.Name)
	}
	return append(line, '\n')
}

func (l csvLines) encode(to io.Writer, record arrow.Record) error {
	columns := make([]csvColumn, record.NumCols())
	for i, column := range record.Columns() {
		columns[i] = l.column(column)
	}
	const flushed = 1 << 16
	var lines []byte
	for row := range int(record.NumRows()) {
		for i, column := range columns {
			if i > 0 {
				lines = append(lines, l.delimiter...)
			}
			if record.Column(i).IsNull(row) {
				lines = append(lines, l.null...)
			} else {
				lines = column(lines, row)
			}
		}
		if lines = append(lines, '\n'); len(lines) >= flushed {
			if _, err := to.Write(lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	_, err := to.Write(lines)
	return err
}

// csvColumn appends the text of a row that is not null.
type csvColumn func(line []byte, row int) []byte

func (l csvLines) column(values arrow.Array) csvColumn {
	switch a := values.(type) {
	case *array.String:
		return func(line []byte, row int) []byte { return l.text(line, a.Value(row)) }
	case *array.LargeString:
		return func(line []byte, row int) []byte { return l.text(line, a.Value(row)) }
	case *array.Boolean:
		return func(line []byte, row int) []byte { return strconv.AppendBool(line, a.Value(row)) }
	case *array.Float32:
		return func(line []byte, row int) []byte {
			return strconv.AppendFloat(line, float64(a.Value(row)), 'g', -1, 32)
		}
	case *array.Float64:
		return func(line []byte, row int) []byte { return strconv.AppendFloat(line, a.Value(row), 'g', -1, 64) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(line []byte, row int) []byte {
			return append(line, arraytext.Decimal(a.Value(row).BigInt(), scale)...)
		}
	case *array.Date32:
		return func(line []byte, row int) []byte { return append(line, a.Value(row).FormattedString()...) }
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return func(line []byte, row int) []byte {
			return a.Value(row).ToTime(unit).AppendFormat(line, time.DateTime+".999999999")
		}
	}
	return integers(values)
}

// integers appends the digits of integers.
func integers(values arrow.Array) csvColumn {
	switch a := values.(type) {
	case *array.Int8:
		return signed(a.Int8Values())
	case *array.Int16:
		return signed(a.Int16Values())
	case *array.Int32:
		return signed(a.Int32Values())
	case *array.Int64:
		return signed(a.Int64Values())
	case *array.Uint8:
		return unsigned(a.Uint8Values())
	case *array.Uint16:
		return unsigned(a.Uint16Values())
	case *array.Uint32:
		return unsigned(a.Uint32Values())
	case *array.Uint64:
		return unsigned(a.Uint64Values())
	}
	return nil
}

func signed[T int8 | int16 | int32 | int64](values []T) csvColumn {
	return func(line []byte, row int) []byte { return strconv.AppendInt(line, int64(values[row]), 10) }
}

func unsigned[T uint8 | uint16 | uint32 | uint64](values []T) csvColumn {
	return func(line []byte, row int) []byte { return strconv.AppendUint(line, uint64(values[row]), 10) }
}

// text appends a text, within quotes if readers would take it for something else.
func (l csvLines) text(line []byte, text string) []byte {
	if !l.quotes(text) {
		return append(line, text...)
	}
	line = append(line, '"')
	for i := range len(text) {
		if text[i] == '"' {
			line = append(line, '"')
		}
		line = append(line, text[i])
	}
	return append(line, '"')
}

func (l csvLines) quotes(text string) bool {
	switch text {
	case "", "NULL", "null", "NA", "N/A", l.null:
		return true
	}
	return text[0] == ' ' || text[0] == '\t' || strings.ContainsAny(text, "\"\r\n") || strings.Contains(text, l.delimiter) || strings.HasPrefix(text, "\uFEFF")
}
