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

// ExportRecordReader writes an ArrowArrayStream, which is for the processor's
// memory, to the struct at stream, which is the caller's, in C memory, and is
// overwritten unread. Its consumer gets the reader's records as [ExportRecord]
// would export them. The reader is retained until the consumer releases the
// stream, which it may do at any point and on any thread; nobody else may read
// from it meanwhile.
//
// Failures reach the consumer as with [ExportStream]; a panic of the reader is one.
func ExportRecordReader(reader array.RecordReader, stream unsafe.Pointer) error {
	return during("export stream", exportRecordReader(reader, (*cabi.Stream)(stream)))
}

func exportRecordReader(reader array.RecordReader, out *cabi.Stream) error {
	switch {
	case !cabi.Available:
		return notInThisBuild()
	case reader == nil:
		return faulty("reader", "it is nil: %w", device.ErrInvalidValue)
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
			// The reader of Parquet calls the end of its file an error.
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
