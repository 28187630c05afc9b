package arrowdev

import (
	"context"
	"errors"
	"io"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
)

// ExportRecordReader writes an ArrowArrayStream, the interface for host memory, to
// the struct at stream. The consumer gets the reader's records as [ExportRecord]
// exports them.
//
// # Ownership
//
// The caller provides the struct, in C memory; it is overwritten unread. The reader
// is retained until the consumer releases the stream, at any point and on any thread.
// No other caller may read from the reader meanwhile.
//
// # Errors
//
// The consumer receives failures as with [ExportStream], including panics of the
// reader.
func ExportRecordReader(reader array.RecordReader, stream unsafe.Pointer) error {
	return during("export stream", exportRecordReader(reader, (*cabi.Stream)(stream)))
}

func exportRecordReader(reader array.RecordReader, out *cabi.Stream) error {
	switch {
	case !cabi.Available:
		return notInThisBuild()
	case reader == nil:
		return faulty("reader", "nil, expected an array.RecordReader: %w", device.ErrInvalidValue)
	case out == nil:
		return faulty("ArrowArrayStream", "the pointer to write to is nil: %w", ErrInvalid)
	}
	_, stop := context.WithCancel(context.Background())
	reader.Retain()
	out.Export(&source{
		schema: func(out *cabi.Schema) error { return exportSchemaOf(reader, out) },
		next: func(out unsafe.Pointer) error {
			if reader.Next() {
				return writeRecord((*cabi.Array)(out), reader.Record())
			}
			// arrow-go's Parquet reader returns io.EOF as the error at the end of the
			// file.
			if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return io.EOF
		},
		close: func() error { reader.Release(); return nil },
		stop:  stop,
	})
	return nil
}
