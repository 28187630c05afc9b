package sink

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/arrays/arraytext"
)

// JSON is the format of JSON lines: an object for each row, with the columns in their
// order. It holds numbers, decimals, bools, text, dates, times, and lists and structs of
// them. Floats that JSON lacks are the strings "NaN", "Infinity" and "-Infinity".
func JSON() Format { return jsonFormat{} }

type jsonFormat struct{}

func (jsonFormat) name() string { return "json" }

// inJSON reports whether a type is written to JSON.
func inJSON(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64, arrow.DECIMAL128, arrow.STRING, arrow.LARGE_STRING,
		arrow.DATE32, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.LIST, arrow.STRUCT, arrow.FIXED_SIZE_LIST:
		return true
	}
	return false
}

func (jsonFormat) begin(w io.Writer, schema *arrow.Schema) (encoder, error) {
	if err := holdsTypes(schema, inJSON); err != nil {
		return nil, err
	}
	keys, err := jsonKeys(schema.Fields())
	if err != nil {
		return nil, err
	}
	return &textEncoder{w: w, header: func(io.Writer) error { return nil }, encode: func(to io.Writer, record arrow.Record) error {
		return jsonLines(to, keys, record)
	}}, nil
}

// jsonKeys are the texts before the values of members.
func jsonKeys(fields []arrow.Field) ([][]byte, error) {
	keys := make([][]byte, len(fields))
	for i, field := range fields {
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
	return keys, nil
}

func jsonLines(to io.Writer, keys [][]byte, record arrow.Record) error {
	columns := make([]jsonValue, record.NumCols())
	for i, column := range record.Columns() {
		var err error
		if columns[i], err = jsonValues(column); err != nil {
			return err
		}
	}
	var line []byte
	for row := range int(record.NumRows()) {
		var err error
		if line, err = jsonObject(line[:0], keys, columns, row); err != nil {
			return fmt.Errorf("row %d: %w: %w", row, err, ErrUnsupported)
		}
		if _, err := to.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// jsonValue appends the value of a row.
type jsonValue func(line []byte, row int) ([]byte, error)

func jsonObject(line []byte, keys [][]byte, columns []jsonValue, row int) (_ []byte, err error) {
	if len(keys) == 0 {
		line = append(line, '{')
	}
	for i, column := range columns {
		if line, err = column(append(line, keys[i]...), row); err != nil {
			return nil, fmt.Errorf("column %s %w", keys[i][1:], err)
		}
	}
	return append(line, '}'), nil
}

// jsonValues returns the function that appends values of an array.
func jsonValues(values arrow.Array) (jsonValue, error) {
	valid, err := jsonValid(values)
	return func(line []byte, row int) ([]byte, error) {
		if values.IsNull(row) {
			return append(line, "null"...), nil
		}
		return valid(line, row)
	}, err
}

// jsonValid returns the function for values that are not null.
func jsonValid(values arrow.Array) (jsonValue, error) {
	if digits := integers(values); digits != nil {
		return func(line []byte, row int) ([]byte, error) { return digits(line, row), nil }, nil
	}
	switch a := values.(type) {
	case *array.Boolean:
		return func(line []byte, row int) ([]byte, error) { return strconv.AppendBool(line, a.Value(row)), nil }, nil
	case *array.Float32:
		return func(line []byte, row int) ([]byte, error) {
			return jsonFloat(line, float64(a.Value(row)), a.Value(row))
		}, nil
	case *array.Float64:
		return func(line []byte, row int) ([]byte, error) { return jsonFloat(line, a.Value(row), a.Value(row)) }, nil
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(line []byte, row int) ([]byte, error) {
			return append(line, arraytext.Decimal(a.Value(row).BigInt(), scale)...), nil
		}, nil
	case *array.Struct:
		return jsonStruct(a)
	case array.ListLike:
		return jsonList(a)
	}
	return func(line []byte, row int) ([]byte, error) { return jsonOther(line, values.GetOneForMarshal(row)) }, nil
}

func jsonOther(line []byte, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	return append(line, text...), err
}

// jsonFloat appends a float; value is the float in its type.
func jsonFloat(line []byte, float float64, value any) ([]byte, error) {
	switch {
	case math.IsNaN(float):
		return append(line, `"NaN"`...), nil
	case math.IsInf(float, 1):
		return append(line, `"Infinity"`...), nil
	case math.IsInf(float, -1):
		return append(line, `"-Infinity"`...), nil
	}
	return jsonOther(line, value)
}

func jsonStruct(a *array.Struct) (jsonValue, error) {
	t := a.DataType().(*arrow.StructType)
	keys, err := jsonKeys(t.Fields())
	columns := make([]jsonValue, a.NumField())
	for i := range columns {
		if err == nil {
			columns[i], err = jsonValues(a.Field(i))
		}
	}
	return func(line []byte, row int) ([]byte, error) { return jsonObject(line, keys, columns, row) }, err
}

func jsonList(a array.ListLike) (jsonValue, error) {
	element, err := jsonValues(a.ListValues())
	return func(line []byte, row int) (_ []byte, err error) {
		begin, end := a.ValueOffsets(row)
		line = append(line, '[')
		for i := begin; i < end; i++ {
			if i > begin {
				line = append(line, ',')
			}
			if line, err = element(line, int(i)); err != nil {
				return nil, err
			}
		}
		return append(line, ']'), nil
	}, err
}
