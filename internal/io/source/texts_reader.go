package source

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/memory"
)

// A GPU decodes CSV files and JSON lines that package delimited knows: the host reads their bytes into pinned memory and
// counts their rows, and records have raw columns. The host decodes a text with a fault, and finds its error.

var ( // tests change them
	// textsOnDevice is false if the host decodes all files.
	textsOnDevice = true
	// textBytes is the length of the text of a record, firstTextBytes that of the first one of a file: a query may need
	// few rows.
	textBytes, firstTextBytes = 64 << 20, 8 << 20
	// textPiece is the length of a part of a text that is read and counted at a time: it stays in a processor's cache.
	textPiece = 512 << 10
)

// mostTexts is the length of the texts that are read in advance, over all files.
const mostTexts = 1 << 30

// textReader reads a file as records of texts that the device decodes.
type textReader struct {
	ctx      context.Context
	manager  *memory.Manager
	decoding textDecoding
	schema   *arrow.Schema
	// fail is an error about the file.
	fail      func(error) error
	allocator arrowmemory.Allocator
	// Of a file, at reads it from offset on, up to size. Of another reader, from reads what is left.
	at           io.ReaderAt
	offset, size int64
	from         io.Reader
	// line is the number of the next line, carried the beginning of the next row, and length that of the next text with it.
	line    int
	carried []byte
	length  int
	ended   bool

	current arrow.Record
	err     error
}

// newTextReader returns a reader of the rows behind those that were read of a file.
func newTextReader(r *textReader, read *blocks, file *stream) (array.RecordReader, error) {
	fields := make([]arrow.Field, len(r.decoding.fields()))
	for i, c := range r.decoding.fields() {
		fields[i] = c.field
	}
	r.schema, r.line, r.length = arrow.NewSchema(fields, nil), read.line, firstTextBytes
	if first := read.again; first.rows > 0 {
		r.line, r.carried, r.length = first.line, []byte(first.text), max(firstTextBytes, 2*len(first.text))
	}
	if file.at == nil {
		r.from = read.lines
		return r, nil
	}
	position, err := file.at.Seek(0, io.SeekCurrent)
	r.at, r.offset, r.size = file.at, position-int64(read.lines.Buffered()), file.at.Size()
	return r, err
}

// Retain implements [array.RecordReader].
func (r *textReader) Retain() {}

// Release implements [array.RecordReader].
func (r *textReader) Release() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

// Schema implements [array.RecordReader].
func (r *textReader) Schema() *arrow.Schema { return r.schema }

// Record implements [array.RecordReader].
func (r *textReader) Record() arrow.Record { return r.current }

// Err implements [array.RecordReader].
func (r *textReader) Err() error { return r.err }

// Next implements [array.RecordReader].
func (r *textReader) Next() bool {
	r.Release()
	for r.current == nil && r.err == nil && !r.ended {
		r.err = r.read()
	}
	return r.err == nil && r.current != nil
}

// read reads a text. It has no rows if it is the beginning of a long one.
func (r *textReader) read() error {
	length := r.length
	if r.at != nil {
		length = int(min(int64(length), int64(len(r.carried))+r.size-r.offset))
	}
	buffer := uninitialized(r.allocator, length)
	defer buffer.Release()
	count, text, err := r.fill(buffer.Bytes())
	if err != nil {
		return err
	}
	rows := count.Rows
	if r.decoding.isRow(nil) {
		rows += count.Empty
	}
	if count.End == 0 && !r.ended {
		r.ended = r.hasStrayQuote(text)
	}
	lines, left := count.Lines, text[count.End:]
	if r.ended && len(left) > 0 {
		count.End = len(text)
		if r.decoding.isRow(left) {
			rows++
		}
	} else {
		lines -= int64(countLines(left))
	}
	r.carried = append([]byte(nil), text[count.End:]...)
	if rows > 0 {
		if err := r.check(text[:count.End], rows); err != nil {
			return err
		}
		r.current = r.record(&rowText{decoding: r.decoding, fail: r.fail, line: r.line}, buffer, count.End, rows)
	}
	r.length = max(textBytes, 2*len(r.carried)) // for a long row
	r.line += int(lines)
	return nil
}

// hasStrayQuote reports whether a row of which the end was not found has a quote within a value: its decoding is an error.
// Otherwise the rest of a large file would be read as one row.
func (r *textReader) hasStrayQuote(text []byte) bool {
	if r.decoding.layout().Members != nil {
		return false
	}
	reader := r.decoding.reader(text, r.line, nil)
	defer reader.Release()
	for reader.Next() {
	}
	return errors.Is(reader.Err(), errQuote) // others may come from the end of the text
}

// check finds the faults of a text of which no column is decoded.
func (r *textReader) check(text []byte, rows int64) error {
	if len(r.decoding.fields()) > 0 {
		return nil
	}
	layout := r.decoding.layout()
	_, err := delimited.Decode(r.ctx, r.manager, layout, []delimited.Text{{Bytes: withoutBlanks(&layout, text), Rows: rows}}, delimited.Options{})
	if !short(err) && !errors.Is(err, delimited.ErrFault) {
		return err
	}
	reader := r.decoding.reader(text, r.line, nil)
	defer reader.Release()
	for reader.Next() {
		rows -= reader.Record().NumRows()
	}
	if err := reader.Err(); err != nil || rows == 0 {
		return err
	}
	return fmt.Errorf("internal error: %d rows of the text from line %d on are missing: %w", rows, r.line, ErrContents)
}

// fill fills a buffer and counts its rows. It returns the text, which is shorter at the end of a reader.
func (r *textReader) fill(to []byte) (count delimited.Count, text []byte, err error) {
	begin := copy(to, r.carried)
	count.Add(to[:begin], r.decoding.count(to[:begin]))
	if r.at == nil {
		n, err := readMost(r.from, to[begin:])
		if r.ended = err == io.EOF; err != nil && !r.ended {
			return count, nil, err
		}
		to = to[:begin+n]
	}
	pieces := make([]delimited.Piece, (len(to)-begin+textPiece-1)/textPiece)
	part := func(i int) []byte { return to[begin+i*textPiece : min(begin+(i+1)*textPiece, len(to))] }
	if err := inParallel(r.ctx, len(pieces), func(i int) error {
		if r.at != nil {
			if err := readPart(r.at, part(i), r.offset+int64(i*textPiece)); err != nil {
				return err
			}
		}
		pieces[i] = r.decoding.count(part(i))
		return nil
	}); err != nil {
		return count, nil, err
	}
	for _, p := range pieces {
		count.Add(to, p)
	}
	if r.at != nil {
		r.offset += int64(len(to) - begin)
		r.ended = r.offset == r.size
	}
	return count, to, nil
}

// readMost reads as many bytes as there are. A file that is cut off is no end.
func readMost(from io.Reader, to []byte) (n int, err error) {
	for n < len(to) && err == nil {
		var more int
		more, err = from.Read(to[n:])
		n += more
	}
	return n, err
}

// record returns a record of a text, which the first bytes of a buffer have.
func (r *textReader) record(t *rowText, buffer *arrowmemory.Buffer, length int, rows int64) arrow.Record {
	t.length, t.count = length, int(rows)
	fields, columns := make([]arrow.Field, r.schema.NumFields()), make([]arrow.Array, r.schema.NumFields())
	for i, c := range r.decoding.fields() {
		fields[i] = c.field
		columns[i] = newRaw(&rawText{t, c}, buffer, 0, rows)
		fields[i].Type = columns[i].DataType()
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, rows)
	release.Arrow(columns)
	return record
}
