package source

import (
	"bufio"
	"bytes"
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/memory"
)

// onDevice implements [deviceDecoder]: package delimited decodes the types of all columns of the files, and there are few
// of them.
func (d jsonDecoder) onDevice(m *memory.Manager, _ []string) bool {
	if !textsOnDevice || !decodesChunks(m) || d.all.NumFields() > delimited.MostMembers {
		return false
	}
	return !slices.ContainsFunc(d.all.Fields(), func(f arrow.Field) bool { return !delimited.Decodable(f.Type) })
}

// texts implements [deviceDecoder].
func (d jsonDecoder) texts(ctx context.Context, m *memory.Manager, file *stream, columns []string, allocator arrowmemory.Allocator, fail func(error) error) (array.RecordReader, error) {
	decoding := d.decoding(columns, arrowmemory.DefaultAllocator)
	return newTextReader(&textReader{ctx: ctx, manager: m, decoding: decoding, fail: fail, allocator: allocator}, newBlocks(file, false), file)
}

// fields implements [textDecoding].
func (d *jsonDecoding) fields() []textColumn {
	columns := make([]textColumn, d.read.NumFields())
	for i, field := range d.read.Fields() {
		columns[i] = textColumn{field: field, place: d.all.FieldIndices(field.Name)[0]}
	}
	return columns
}

// layout implements [textDecoding].
func (d *jsonDecoding) layout() delimited.Layout {
	return delimited.Layout{Members: fieldNames(d.all), Known: d.inferred}
}

// count implements [textDecoding].
func (d *jsonDecoding) count(part []byte) delimited.Piece { return delimited.CountLines(part) }

// isRow implements [textDecoding].
func (d *jsonDecoding) isRow(line []byte) bool { return len(bytes.TrimSpace(line)) > 0 }

// reader implements [textDecoding].
func (d *jsonDecoding) reader(part []byte, line int, columns []textColumn) array.RecordReader {
	own := *d
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
	}
	own.read = arrow.NewSchema(fields, nil)
	b := &blocks{lines: bufio.NewReaderSize(bytes.NewReader(part), 1<<20), line: line}
	return &blockRecords{blocks: b, schema: own.read, rows: streamRows, decode: own.record}
}
