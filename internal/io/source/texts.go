package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/memory"
)

// textDecoding decodes texts of one file.
type textDecoding interface {
	// fields are the columns that are read.
	fields() []textColumn
	// layout is that of the rows, without columns.
	layout() delimited.Layout
	// count counts a part of a text.
	count(part []byte) delimited.Piece
	// isRow reports whether a line, without its end, is a row.
	isRow(line []byte) bool
	// reader decodes columns of a part of a text on the host. line is the number of its first line.
	reader(part []byte, line int, columns []textColumn) array.RecordReader
}

// deviceDecoder is a decoder of files that a device may decode.
type deviceDecoder interface {
	decoder
	// onDevice reports whether the device of a manager decodes columns of the files.
	onDevice(m *memory.Manager, columns []string) bool
	// texts returns a reader of the texts of a file. fail returns errors about the file.
	texts(ctx context.Context, m *memory.Manager, file *stream, columns []string, allocator arrowmemory.Allocator, fail func(error) error) (array.RecordReader, error)
}

// rowText is whole rows of a file.
type rowText struct {
	decoding textDecoding
	// fail is an error about the file.
	fail func(error) error
	// line is the number of the first line, length that of the text.
	line, length int
	// marks are the places of every markedRows-th row. They are found when rows are left out.
	once  sync.Once
	marks []textMark
}

// textMark is the place of a row, and the number of lines before it.
type textMark struct{ at, lines int }

// markedRows is the number of rows from one mark to the next.
const markedRows = 4096

// textType is the type of an array of rows of a text that the device decodes. Its first buffer begins with the text, and
// the offset of the array is the first row.
type textType struct {
	arrow.ExtensionBase
	text   *rowText
	column textColumn
}

// textArray is an array of textType. It has no values.
type textArray struct{ array.ExtensionArrayBase }

// ArrayType implements [arrow.ExtensionType].
func (*textType) ArrayType() reflect.Type { return reflect.TypeFor[textArray]() }

// ExtensionName implements [arrow.ExtensionType].
func (*textType) ExtensionName() string { return "gpuframe.delimited_text" }

// ExtensionEquals implements [arrow.ExtensionType].
func (t *textType) ExtensionEquals(other arrow.ExtensionType) bool { return t == other }

// Serialize implements [arrow.ExtensionType]. Arrays of this type are written nowhere.
func (*textType) Serialize() string { return "" }

// Deserialize implements [arrow.ExtensionType].
func (*textType) Deserialize(arrow.DataType, string) (arrow.ExtensionType, error) {
	return nil, fmt.Errorf("texts are written nowhere: %w", ErrUnsupported)
}

// String implements [arrow.DataType].
func (t *textType) String() string { return "the text of " + t.column.field.Type.String() }

// isTextType reports whether an array has rows of a text.
func isTextType(t arrow.DataType) bool {
	_, ok := t.(*textType)
	return ok
}

// textsOf returns the places of a record's columns of a text, and the text.
func textsOf(record arrow.Record) (places []int, text *rowText) {
	for i, f := range record.Schema().Fields() {
		if t, ok := f.Type.(*textType); ok {
			places, text = append(places, i), t.text
		}
	}
	return places, text
}

// valueType is the type of the values of a column: of a text, that of its values.
func valueType(t arrow.DataType) arrow.DataType {
	if t, ok := t.(*textType); ok {
		return t.column.field.Type
	}
	return t
}

// joins reports whether a table may have the rows of two records: their texts, if there are any, have the same columns.
func joins(a, b arrow.Record) bool {
	_, first := textsOf(a)
	_, second := textsOf(b)
	if first == nil || second == nil {
		return first == second
	}
	if first.decoding == second.decoding {
		return true
	}
	layout, other := first.decoding.layout(), second.decoding.layout()
	return layout.Width == other.Width && slices.Equal(layout.Members, other.Members) &&
		slices.EqualFunc(first.decoding.fields(), second.decoding.fields(), func(a, b textColumn) bool { return a.place == b.place })
}

// textWeight makes a text count as that many bytes of column chunks: a table has one long text, or many short ones.
const textWeight = 12

// textLength is the length of the text of a record, in proportion to its rows of it.
func textLength(record arrow.Record) int64 {
	places, text := textsOf(record)
	if text == nil || record.NumRows() == 0 {
		return 0
	}
	return int64(len(text.rows(record.Column(places[0]))))
}

// rows returns the bytes of the rows of an array.
func (t *rowText) rows(a arrow.Array) []byte {
	bytes, _ := t.part(a)
	return bytes
}

// part returns the bytes of the rows of an array, and the number of their first line.
func (t *rowText) part(a arrow.Array) (part []byte, line int) {
	data := a.Data()
	text, first, rows := data.Buffers()[0].Bytes()[:t.length], data.Offset(), data.Len()
	begin := t.find(text, first)
	end := t.find(text, first+rows)
	return text[begin.at:end.at], t.line + begin.lines
}

// find returns the place of a row, or the end of the text.
func (t *rowText) find(text []byte, row int) textMark {
	if row == 0 {
		return textMark{}
	}
	t.once.Do(func() {
		scan := textScan{text: text, decoding: t.decoding}
		for ok := true; ok; ok = scan.skip(markedRows) {
			t.marks = append(t.marks, scan.textMark)
		}
	})
	if row/markedRows >= len(t.marks) {
		return textMark{at: len(text)}
	}
	scan := textScan{textMark: t.marks[row/markedRows], text: text, decoding: t.decoding}
	if !scan.skip(row % markedRows) {
		return textMark{at: len(text)}
	}
	return scan.textMark
}

// textScan walks over the rows of a text.
type textScan struct {
	textMark
	text     []byte
	decoding textDecoding
}

// skip skips a number of rows. It returns false at the end of the text.
func (s *textScan) skip(rows int) bool {
	quotes := s.decoding.layout().Members == nil
	for rows > 0 {
		line, odd := s.line()
		for quotes && odd && s.at < len(s.text) {
			_, more := s.line()
			odd = odd != more
		}
		if s.decoding.isRow(line) {
			rows--
		}
		if s.at == len(s.text) {
			return false
		}
	}
	return true
}

// line reads a line, and reports whether it has an odd number of quotes.
func (s *textScan) line() (line []byte, odd bool) {
	line = s.text[s.at:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
		s.at, s.lines = s.at+end+1, s.lines+1
	} else {
		s.at = len(s.text)
	}
	return line, bytes.Count(line, []byte{'"'})%2 == 1
}

func countLines(text []byte) int { return bytes.Count(text, []byte{'\n'}) }

// copyTexts copies the texts of records to the device of a manager.
func copyTexts(ctx context.Context, m *memory.Manager, records []arrow.Record, options delimited.Options) (*chunkBatch, error) {
	places, text := textsOf(records[0])
	if m.Device().Kind() == device.Host {
		return nil, delimited.ErrFault // the host decodes texts before they are copied
	}
	layout := text.decoding.layout()
	for _, place := range places {
		c := records[0].Column(place).DataType().(*textType).column
		layout.Columns = append(layout.Columns, delimited.Column{Type: c.field.Type, Place: c.place, Cut: c.cut})
	}
	texts := make([]delimited.Text, len(records))
	for i, record := range records {
		_, text := textsOf(record)
		texts[i] = delimited.Text{Bytes: withoutBlanks(&layout, text.rows(record.Column(places[0]))), Rows: record.NumRows()}
	}
	batch, err := delimited.Copy(ctx, m, layout, texts, options)
	if err != nil {
		return nil, err
	}
	return &chunkBatch{places: places, batch: batch}, nil
}

// withoutBlanks leaves out the blank lines at the ends of JSON lines, which a device does not skip.
func withoutBlanks(layout *delimited.Layout, text []byte) []byte {
	if layout.Members == nil {
		return text
	}
	return bytes.Trim(text, " \t\r\n")
}

// withoutTexts decodes the texts of records on the host. It takes the references to the records.
func withoutTexts(schema *arrow.Schema, records []arrow.Record) (result []arrow.Record, err error) {
	defer releaseRecords(records)
	for _, record := range records {
		parts, err := withoutText(schema, record)
		result = append(result, parts...)
		if err != nil {
			releaseRecords(result)
			return nil, err
		}
	}
	return result, nil
}

// withoutText decodes the text of a record on the host: records of blocks of it.
func withoutText(schema *arrow.Schema, record arrow.Record) (result []arrow.Record, err error) {
	places, text := textsOf(record)
	if text == nil {
		record.Retain()
		return []arrow.Record{record}, nil
	}
	part, line := text.part(record.Column(places[0]))
	columns := make([]textColumn, len(places))
	for i, place := range places {
		columns[i] = record.Column(place).DataType().(*textType).column
	}
	reader := text.decoding.reader(part, line, columns)
	defer reader.Release()
	row := int64(0)
	for reader.Next() {
		values := reader.Record()
		end := row + values.NumRows()
		if end > record.NumRows() {
			break
		}
		arrays := make([]arrow.Array, record.NumCols())
		for i := range arrays {
			if at := slices.Index(places, i); at >= 0 {
				arrays[i] = values.Column(at)
				arrays[i].Retain()
			} else {
				arrays[i] = array.NewSlice(record.Column(i), row, end)
			}
		}
		result = append(result, array.NewRecord(schema, arrays, values.NumRows()))
		for _, each := range arrays {
			each.Release()
		}
		row = end
	}
	if err := reader.Err(); err != nil && err != io.EOF {
		return result, text.fail(damaged(err))
	}
	if row != record.NumRows() {
		return result, text.fail(fmt.Errorf("internal error: %d of the %d rows from line %d on are decoded: %w", row, record.NumRows(), line, ErrContents))
	}
	return result, nil
}
