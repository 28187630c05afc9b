package source

import (
	"bufio"
	"bytes"
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/memory"
)

// onDevice reports whether the device of a manager decodes columns of the files: the delimiter is one byte, and package
// delimited decodes all types.
func (d csvDecoder) onDevice(m *memory.Manager, columns []string) bool {
	if !textsOnDevice || !decodesChunks(m) || d.Delimiter > 0x7f {
		return false
	}
	for _, name := range columns {
		if fields, _ := d.all.FieldsByName(name); !delimited.Decodable(fields[0].Type) {
			return false
		}
	}
	for _, null := range d.Nulls {
		if !delimited.DecodableNull(null) {
			return false
		}
	}
	return true
}

// texts returns a reader of a file's texts.
func (d csvDecoder) texts(ctx context.Context, m *memory.Manager, file *stream, columns []string, allocator arrowmemory.Allocator, fail func(error) error) (array.RecordReader, error) {
	read, decoding, err := d.open(file, columns, arrowmemory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	return newTextReader(&textReader{ctx: ctx, manager: m, decoding: decoding, fail: fail, allocator: allocator}, read, file)
}

// fields implements [textDecoding].
func (d *csvDecoding) fields() []textColumn { return d.columns }

// layout implements [textDecoding].
func (d *csvDecoding) layout() delimited.Layout {
	return delimited.Layout{Delimiter: byte(d.Delimiter), Width: d.width, Nulls: d.Nulls}
}

// count implements [textDecoding].
func (d *csvDecoding) count(part []byte) delimited.Piece { return delimited.CountPiece(part) }

// isRow implements [textDecoding].
func (d *csvDecoding) isRow(line []byte) bool {
	return d.width == 1 || len(bytes.TrimSuffix(line, []byte{'\r'})) > 0
}

// reader implements [textDecoding].
func (d *csvDecoding) reader(part []byte, line int, columns []textColumn) array.RecordReader {
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
