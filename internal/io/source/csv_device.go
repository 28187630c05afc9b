package source

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
)

// csvText is whole rows of a CSV file.
type csvText struct {
	decoding *csvDecoding
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

// rawText is a column of a text: the bytes begin with it.
type rawText struct {
	*csvText
	column csvColumn
}

// String implements [rawColumn].
func (c *rawText) String() string { return "the text of " + c.column.field.Type.String() }

func (*rawText) form() rawForm { return textForm{} }

// textOf returns the text of a record, or nil if it has none.
func textOf(record arrow.Record) *csvText {
	for _, f := range record.Schema().Fields() {
		if c, ok := rawAs[*rawText](f.Type); ok {
			return c.csvText
		}
	}
	return nil
}

// valueType is the type of the values of a column: of a text, that of its values.
func valueType(t arrow.DataType) arrow.DataType {
	if c, ok := rawAs[*rawText](t); ok {
		return c.column.field.Type
	}
	return t
}

// joins reports whether a table may have the rows of two records: their texts, if there are any, have the same columns.
func joins(a, b arrow.Record) bool {
	first, second := textOf(a), textOf(b)
	if first == nil || second == nil {
		return first == second
	}
	return first.decoding == second.decoding || first.decoding.width == second.decoding.width && slices.EqualFunc(first.decoding.columns, second.decoding.columns, func(a, b csvColumn) bool { return a.place == b.place })
}

// textWeight makes a text count as that many bytes of column chunks: a table has one long text, or many short ones.
const textWeight = 12

// textForm is the form of texts.
type textForm struct{}

// length implements [rawForm].
func (textForm) length(record arrow.Record, places []int) (bytes, weight int64) {
	if record.NumRows() == 0 {
		return 0, textWeight
	}
	return int64(len(textOf(record).rows(record.Column(places[0])))), textWeight
}

// rows returns the bytes of the rows of an array.
func (t *csvText) rows(a arrow.Array) []byte {
	bytes, _ := t.part(a)
	return bytes
}

// part returns the bytes of the rows of an array, and the number of their first line.
func (t *csvText) part(a arrow.Array) (part []byte, line int) {
	data := a.Data()
	text, first, rows := data.Buffers()[0].Bytes()[:t.length], data.Offset(), data.Len()
	begin := t.find(text, first)
	end := t.find(text, first+rows)
	return text[begin.at:end.at], t.line + begin.lines
}

// find returns the place of a row, or the end of the text.
func (t *csvText) find(text []byte, row int) textMark {
	if row == 0 {
		return textMark{}
	}
	t.once.Do(func() {
		scan := textScan{text: text, wide: t.decoding.width > 1}
		for ok := true; ok; ok = scan.skip(markedRows) {
			t.marks = append(t.marks, scan.textMark)
		}
	})
	if row/markedRows >= len(t.marks) {
		return textMark{at: len(text)}
	}
	scan := textScan{textMark: t.marks[row/markedRows], text: text, wide: t.decoding.width > 1}
	if !scan.skip(row % markedRows) {
		return textMark{at: len(text)}
	}
	return scan.textMark
}

// textScan walks over the rows of a text.
type textScan struct {
	textMark
	text []byte
	// wide reports that rows have several fields, so that lines without contents are none.
	wide bool
}

// skip skips a number of rows. It returns false at the end of the text.
func (s *textScan) skip(rows int) bool {
	for rows > 0 {
		line, odd := s.line()
		for odd && s.at < len(s.text) {
			_, more := s.line()
			odd = odd != more
		}
		if !s.wide || len(bytes.TrimSuffix(line, []byte{'\r'})) > 0 {
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

// layout is that of the rows, without columns.
func (d *csvDecoding) layout() delimited.Layout {
	return delimited.Layout{Delimiter: byte(d.Delimiter), Width: d.width, Nulls: d.Nulls}
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
		texts[i] = delimited.Text{Bytes: textOf(record).rows(record.Column(places[0])), Rows: record.NumRows()}
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
	own := make([]csvColumn, len(places))
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
		for _, c := range columns {
			c.Release()
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

// reader decodes columns of a part of a text on the host.
func (d *csvDecoding) reader(part []byte, line int, columns []csvColumn) array.RecordReader {
	own := *d
	own.columns = columns
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
	}
	own.schema = arrow.NewSchema(fields, nil)
	b := &blocks{lines: bufio.NewReaderSize(bytes.NewReader(part), 1<<20), quotes: true, line: line}
	return &blockRecords{blocks: b, schema: own.schema, rows: streamRows, decode: own.record}
}
