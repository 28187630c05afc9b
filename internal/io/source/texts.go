package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
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
	// line is the number of the first line, length that of the text, count the number of its rows.
	line, length, count int
	// marks are the places of every markedRows-th row. They are found when rows are left out.
	once  sync.Once
	marks []textMark
}

// textMark is the place of a row, and the number of lines before it.
type textMark struct{ at, lines int }

// markedRows is the number of rows from one mark to the next.
const markedRows = 4096

// rawText is a column of a text: the bytes begin with it.
type rawText struct {
	*rowText
	column textColumn
}

// String implements [rawColumn].
func (c *rawText) String() string { return "the text of " + c.column.field.Type.String() }

func (*rawText) form() rawForm { return textForm{} }

// texted is a raw column of a text: see [remoteSource] for why it is an interface.
type texted interface {
	rawColumn
	text() *rowText
	valueType() arrow.DataType
}

func (c *rawText) text() *rowText { return c.rowText }

func (c *rawText) valueType() arrow.DataType { return c.column.field.Type }

// textOf returns the text of a record, or nil if it has none.
func textOf(record arrow.Record) *rowText {
	for _, f := range record.Schema().Fields() {
		if c, ok := rawAs[texted](f.Type); ok {
			return c.text()
		}
	}
	return nil
}

// valueType is the type of the values of a column: of a text, that of its values.
func valueType(t arrow.DataType) arrow.DataType {
	if c, ok := rawAs[texted](t); ok {
		return c.valueType()
	}
	return t
}

// joins reports whether a table may have the rows of two records: their texts, if there are any, have the same columns.
func joins(a, b arrow.Record) bool {
	if !sameLevels(a, b) {
		return false
	}
	first, second := textOf(a), textOf(b)
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

// textWeight makes a byte of a text count as that many of column chunks: a table has one long text, which lacks a part of a
// row, or many short ones.
const textWeight = 16

// textForm is the form of texts.
type textForm struct{}

// length implements [rawForm].
func (textForm) length(record arrow.Record, places []int) (bytes, weighted int64) {
	if record.NumRows() == 0 {
		return 0, 0
	}
	bytes = int64(len(textOf(record).rows(record.Column(places[0]))))
	return bytes, bytes * textWeight
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
	begin, end := t.find(text, first), textMark{at: len(text)}
	if first+rows < t.count {
		end = t.find(text, first+rows)
	}
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

// withoutBlanks leaves out the blank lines at the ends of JSON lines, which a device does not skip.
func withoutBlanks(layout *delimited.Layout, text []byte) []byte {
	if layout.Members == nil {
		return text
	}
	return bytes.Trim(text, " \t\r\n")
}

// textBatch is the texts of records, on the device.
type textBatch struct{ *delimited.Batch }

// copy implements [rawForm].
func (textForm) copy(ctx context.Context, to rawTarget, records []arrow.Record, places []int) (rawBatch, error) {
	if to.manager.Device().Kind() == device.Host {
		return nil, delimited.ErrFault // the host decodes texts before they are copied
	}
	layout := textOf(records[0]).decoding.layout()
	for _, place := range places {
		c, _ := rawAs[*rawText](records[0].Column(place).DataType())
		layout.Columns = append(layout.Columns, delimited.Column{Type: c.column.field.Type, Place: c.column.place, Cut: c.column.cut})
	}
	texts := make([]delimited.Text, len(records))
	for i, record := range records {
		texts[i] = delimited.Text{Bytes: withoutBlanks(&layout, textOf(record).rows(record.Column(places[0]))), Rows: record.NumRows()}
	}
	batch, err := delimited.Copy(ctx, to.manager, layout, texts, delimited.Options{Tag: to.tag, CopyStream: to.ahead})
	if err != nil {
		return nil, err
	}
	return textBatch{batch}, nil
}

// decode implements [rawBatch].
func (b textBatch) decode(ctx context.Context) ([]*column.Column, error) { return b.Decode(ctx) }

// release implements [rawBatch].
func (b textBatch) release() error { return b.Release() }

// onHost implements [rawForm]: records of blocks of the text.
func (textForm) onHost(_ context.Context, schema *arrow.Schema, record arrow.Record, places []int) (result []arrow.Record, err error) {
	text := textOf(record)
	part, line := text.part(record.Column(places[0]))
	own := make([]textColumn, len(places))
	for i, place := range places {
		c, _ := rawAs[*rawText](record.Column(place).DataType())
		own[i] = c.column
	}
	reader := text.decoding.reader(part, line, own)
	defer reader.Release()
	row := int64(0)
	for reader.Next() {
		values := reader.Record()
		end := row + values.NumRows()
		if end > record.NumRows() {
			break
		}
		columns := make([]arrow.Array, record.NumCols())
		for i := range columns {
			if at := slices.Index(places, i); at >= 0 {
				columns[i] = values.Column(at)
				columns[i].Retain()
			} else {
				columns[i] = array.NewSlice(record.Column(i), row, end)
			}
		}
		result = append(result, array.NewRecord(schema, columns, values.NumRows()))
		release.Arrow(columns)
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
