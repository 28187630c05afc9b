package source_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// modelField is a value of CSV in the model.
type modelField struct {
	text   string
	quoted bool
}

// modelCSV reads CSV one character after another. It returns nil for text that is not CSV.
func modelCSV(text string) (rows [][]modelField) {
	var row []modelField
	var value modelField
	const begin, plain, inside, behind = 0, 1, 2, 3
	state := begin
	end := func(line bool) {
		if line && !value.quoted {
			value.text = strings.TrimSuffix(value.text, "\r")
		}
		row, value, state = append(row, value), modelField{}, begin
		if line {
			rows, row = append(rows, row), nil
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case state == inside && c != '"':
			value.text += string([]byte{c})
		case state == inside && i+1 < len(text) && text[i+1] == '"':
			value.text += `"`
			i++
		case state == inside:
			state = behind
		case c == '"' && state == begin:
			state, value.quoted = inside, true
		case c == ',':
			end(false)
		case c == '\n':
			end(true)
		case state == behind && c == '\r' && (i+1 == len(text) || text[i+1] == '\n'):
		case c == '"' || state == behind:
			return nil
		default:
			value.text += string([]byte{c})
			state = plain
		}
	}
	if state == inside {
		return nil
	}
	if state != begin || len(row) > 0 {
		end(true)
	}
	return rows
}

// checkCSV compares what is read of a text with the model.
func checkCSV(t require.TestingT, m *memory.Manager, context testing.TB, text string) {
	rows := modelCSV(strings.TrimPrefix(text, "\uFEFF"))
	width := 0
	for i, row := range rows { // the first row that is not an empty line has the columns
		if len(row) > 1 || row[0] != (modelField{}) {
			width, rows = len(row), rows[i:]
			break
		}
	}
	if width > 1 {
		rows = slices.DeleteFunc(rows, func(row []modelField) bool { return len(row) == 1 && row[0] == modelField{} })
	}
	bad := width == 0 || slices.ContainsFunc(rows, func(row []modelField) bool { return len(row) != width })
	texts := map[string]arrow.DataType{}
	for i := range width {
		texts[fmt.Sprintf("f%d", i)] = arrow.BinaryTypes.String
	}
	for _, types := range []map[string]arrow.DataType{nil, texts} {
		got, err := modelRead(context, m, func() (source.Source, error) {
			return source.CSVReader("text", strings.NewReader(text), source.CSVOptions{NoHeader: true, Types: types, InferRows: -1})
		})
		if bad {
			require.Error(t, err, "%q", text)
			continue
		}
		require.NoError(t, err, "%q", text)
		at := 0
		for _, record := range got {
			for row := range int(record.NumRows()) {
				for i, column := range record.Columns() {
					checkField(t, rows[at][i], column, row)
				}
				at++
			}
		}
		require.Equal(t, len(rows), at, "%q", text)
	}
}

// checkField compares a value with its text.
func checkField(t require.TestingT, field modelField, column arrow.Array, row int) {
	isText := column.DataType().ID() == arrow.STRING
	null := slices.Contains([]string{"", "NULL", "null"}, field.text) && !(field.quoted && (isText || field.text != ""))
	require.Equal(t, null, column.IsNull(row), "%q of %v", field.text, column.DataType())
	if !null {
		require.True(t, sameText(field.text, column, row), "%q is read as %s of %v", field.text, column.ValueStr(row), column.DataType())
	}
}

// sameText reports whether a value is that of a text, by other parsers than those of the readers.
func sameText(text string, column arrow.Array, row int) bool {
	switch values := column.(type) {
	case *array.String:
		return values.Value(row) == text
	case *array.Boolean:
		return strings.EqualFold(text, strconv.FormatBool(values.Value(row)))
	case *array.Float64:
		want, err := strconv.ParseFloat(text, 64)
		got := values.Value(row)
		return err == nil && !strings.ContainsAny(text, "_xX") && (got == want || got != got && want != want)
	case *array.Date32:
		at, err := time.Parse(time.DateOnly, text)
		return err == nil && values.Value(row).ToTime().Equal(at)
	case *array.Timestamp:
		unit := values.DataType().(*arrow.TimestampType).Unit
		layouts := []string{time.DateOnly}
		for _, clock := range []string{"15:04", "15:04:05"} {
			for _, zone := range []string{"", "Z07:00", "Z0700", "Z07"} {
				layouts = append(layouts, "2006-01-02 "+clock+zone)
			}
		}
		for _, layout := range layouts {
			if at, err := time.Parse(layout, strings.Replace(text, "T", " ", 1)); err == nil {
				return values.Value(row).ToTime(unit).Equal(at.UTC().Truncate(unit.Multiplier()))
			}
		}
		return false
	}
	want, ok := new(big.Int).SetString(text, 10)
	got, _ := new(big.Int).SetString(column.ValueStr(row), 10)
	return ok && text[0] != '+' && !strings.Contains(text, "_") && got.Cmp(want) == 0
}

// modelRead reads all rows of a source.
func modelRead(t testing.TB, m *memory.Manager, open func() (source.Source, error)) (records []arrow.Record, err error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	reader, err := s.Open(t.Context(), m, source.Request{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for {
		table, err := reader.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		record, err := table.Record(t.Context())
		if err := errors.Join(err, table.Release()); err != nil {
			return nil, err
		}
		records = append(records, record)
	}
}

// csvTexts are texts of CSV with values that readers took for others.
var csvTexts = []string{
	"1_11\n11_1\n", "0x1p4\n0x_1p4\n", "+47\n+48\n", "9187643043065364481\n9223671840084328451\n", "-1\n9223671840084328451\n", "1.5\n9223671840084328451\n",
	"2020-01-01 00:00:00.1234567\n9999-12-31 00:00:00\n", "9999-12-31\n2020-01-01 00:00:00.123456789\n", "\"x\r\ny\"\n", "1\n\n3\n", "\"NULL\"\nNULL\n\"null\"\nx\n\"\"\n", "1,\"\"\n2,3\n",
	"Nan\nInf\n", "NaN\n1\n-Inf\n", "2024-02-30\n", "true\nFalse\n", "a,b\n1\n", "a\"b\n", "\"a\"b\n", "\"a", "\uFEFF1\n", "1\r\n2\r\n", "a,\n,b", "340282366920938463463374607431768211456\n1\n",
	"100000000000000000000000000000000000000\n1\n", "123456789012345680000\n1.5\n", "1677-09-21 00:12:43.145224192\n", "2024-01-01T10:00:00+02:00\n2024-01-01 10:00Z\n",
}

// FuzzCSVLikeModel compares CSV files with the model: a file is read as it is, or an error.
func FuzzCSVLikeModel(f *testing.F) {
	for _, text := range csvTexts {
		f.Add(text)
	}
	m := devicetest.Manager(f, devicetest.Open(f, "host"), memory.Options{})
	f.Fuzz(func(t *testing.T, text string) { checkCSV(t, m, t, text) })
}

func TestRandomCSV(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	parts := append([]string{"1", "-7", "0.5", "x", ",", ",", "\n", "\n", "\r\n", "\"", "\"\"", "NULL", "null", "NaN", "true", "2024-05-01", " 10:00:00", ".5", "é"}, csvTexts...)
	property.Check(t, func(r *rapid.T) {
		checkCSV(r, m, t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 25).Draw(r, "parts"), ""))
	})
}

// checkJSON compares what is read of JSON lines with encoding/json.
func checkJSON(t require.TestingT, m *memory.Manager, context testing.TB, text string) {
	if !utf8.ValidString(text) {
		return
	}
	var rows []map[string]any
	valid := true
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		var row map[string]any
		if err := decoder.Decode(&row); err != nil || row == nil || strings.TrimSpace(line[decoder.InputOffset():]) != "" {
			valid = false
		}
		rows = append(rows, row)
	}
	got, err := modelRead(context, m, func() (source.Source, error) {
		return source.JSONReader("text", strings.NewReader(text), source.JSONOptions{InferRows: -1})
	})
	if err != nil {
		require.ErrorIs(t, err, source.ErrContents)
		return
	}
	if !valid { // numbers that JSON lacks
		require.True(t, strings.Contains(text, "NaN") || strings.Contains(text, "Infinity"), "%q", text)
		return
	}
	at := 0
	for _, record := range got {
		for row := range int(record.NumRows()) {
			for i, column := range record.Columns() {
				require.True(t, sameJSON(rows[at][record.ColumnName(i)], column, row), "%q: column %q, row %d is %s", text, record.ColumnName(i), at, column.ValueStr(row))
			}
			for name := range rows[at] {
				require.True(t, record.Schema().HasField(name), "%q: no column %q", text, name)
			}
			at++
		}
	}
	require.Equal(t, len(rows), at, "%q", text)
}

// sameJSON reports whether a value is that of JSON.
func sameJSON(want any, column arrow.Array, row int) bool {
	if want == nil || column.IsNull(row) {
		return want == nil && column.IsNull(row)
	}
	switch values := column.(type) {
	case *array.Struct:
		members, ok := want.(map[string]any)
		for i, field := range values.DataType().(*arrow.StructType).Fields() {
			ok = ok && sameJSON(members[field.Name], values.Field(i), row)
		}
		return ok
	case array.ListLike:
		elements, ok := want.([]any)
		begin, end := values.ValueOffsets(row)
		if !ok || int64(len(elements)) != end-begin {
			return false
		}
		for i, element := range elements {
			if !sameJSON(element, values.ListValues(), int(begin)+i) {
				return false
			}
		}
		return true
	}
	switch want := want.(type) {
	case bool:
		return sameText(strconv.FormatBool(want), column, row)
	case json.Number:
		return sameText(want.String(), column, row)
	case string:
		return sameText(want, column, row)
	}
	return false
}

var jsonTexts = []string{
	`{"a":1,"b":{"c":[1,2.5],"d":{}}}` + "\n" + `{"b":{"c":[]}}`, "\uFEFF" + `{"x":1}`, `{"m":{}}` + "\n" + `{"m":{}}`, `{"id":9187643043065364481}` + "\n" + `{"id":9223671840084328451}`,
	`{"a":1.5}` + "\n" + `{"a":9223671840084328451}`, `{"a":"NaN"}` + "\n" + `{"a":1}`, `{"a":1}` + "\n" + `{"a":"-Infinity"}`, `{"a":NaN}`, `{"a":"\u00e9\n\ud83d\ude00\ud800x\/"}`, `{"a":1,"a":2}`, `{"a":01}`, `{"a":1e400}`,
	`{"a":1} {"a":2}`, `[1]`, `null`, `{"a":[1,"x"]}`, `{"a":tru}`, "{\"a\":\"\t\"}", `{"":1,"é":null}`, `{"a":123456789012345678901234567890123456789}`, `{"a":{"b":1}}` + "\n" + `{"a":{"c":[true,null]}}`, `{"a":-0}`,
}

// FuzzJSONLikeModel compares JSON lines with encoding/json: a file is read as it is, or an error.
func FuzzJSONLikeModel(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	m := devicetest.Manager(f, devicetest.Open(f, "host"), memory.Options{})
	f.Fuzz(func(t *testing.T, text string) { checkJSON(t, m, t, text) })
}

func TestRandomJSONLines(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	property.Check(t, func(r *rapid.T) {
		var lines []string
		for range rapid.IntRange(1, 5).Draw(r, "lines") {
			lines = append(lines, rapid.OneOf(rapid.SampledFrom(jsonTexts), rapid.Custom(func(r *rapid.T) string { return jsonObject(r, 3) })).Draw(r, "line"))
		}
		checkJSON(r, m, t, strings.Join(lines, "\n"))
	})
}

// jsonObject draws an object. Its members have one type in all objects.
func jsonObject(r *rapid.T, depth int) string {
	var members []string
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		switch rapid.IntRange(0, 3).Draw(r, "member") {
		case 0:
			continue
		case 1:
			members = append(members, strconv.Quote(name)+":null")
			continue
		}
		members = append(members, strconv.Quote(name)+": "+jsonMember(r, name, depth))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func jsonMember(r *rapid.T, name string, depth int) string {
	switch {
	case name == "a":
		return rapid.SampledFrom([]string{"1", "-3", "18446744073709551615", "2.5", "1e3"}).Draw(r, "number")
	case name == "b":
		text, _ := json.Marshal(rapid.StringN(0, 8, -1).Draw(r, "text"))
		return string(text)
	case name == "c" || depth == 0:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(r, "bool")
	case name == "d":
		var elements []string
		for range rapid.IntRange(0, 3).Draw(r, "elements") {
			elements = append(elements, jsonObject(r, depth-1))
		}
		return "[" + strings.Join(elements, ",") + "]"
	}
	return jsonObject(r, depth-1)
}
