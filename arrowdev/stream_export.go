package arrowdev

import (
	"context"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// ExportStream writes an ArrowDeviceArrayStream to out. The consumer gets the
// reader's tables one at a time, as [Export] exports them; each lives until the
// consumer releases it, with or without the stream. The stream's type of device is
// that of the manager's memory. At most one set of options may be given; its Context
// ends the stream, with ECANCELED, and every wait in it.
//
// # Ownership
//
// The caller provides the struct, in C memory; it is overwritten unread. The stream
// owns the reader and closes it when the consumer releases the stream, at any point
// and on any thread, or before ExportStream returns an error. An error of that Close
// is lost.
//
// # Errors
//
// The consumer receives failures as errno codes with a description: EINVAL for a
// table of another schema or on another type of device, ENOMEM for an exceeded budget
// or exhausted memory, ECANCELED for the context, the original code if the reader is
// a stream of another library, and EIO for all other errors. After a failure get_next
// returns the same failure again. Calls of the stream after its release do nothing.
//
// The consumer must not call the stream from two threads at the same time. If it
// does, the calls wait for each other.
func ExportStream(m *memory.Manager, reader buffer.Reader, out unsafe.Pointer, options ...ExportOptions) error {
	err := exportStream(m, reader, (*cabi.DeviceStream)(out), options)
	if err != nil && reader != nil {
		err = also(err, reader.Close())
	}
	return during("export stream", err)
}

func exportStream(m *memory.Manager, reader buffer.Reader, out *cabi.DeviceStream, options []ExportOptions) error {
	o, err := only(options)
	switch {
	case !cabi.Available:
		return notInThisBuild()
	case err != nil:
		return err
	case m == nil:
		return faulty("manager", "nil, expected the manager of the tables' device: %w", device.ErrInvalidValue)
	case reader == nil:
		return faulty("reader", "nil, expected an open buffer.Reader: %w", device.ErrInvalidValue)
	case out == nil:
		return faulty("ArrowDeviceArrayStream", "the pointer to write to is nil: %w", ErrInvalid)
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	var stop context.CancelFunc
	o.Context, stop = context.WithCancel(o.Context)
	where := locationOfManager(m)
	out.Export(where.deviceType, &source{
		schema: func(out *cabi.Schema) error { return exportSchemaOf(reader, out) },
		next: func(out unsafe.Pointer) error {
			table, err := reader.Next(o.Context)
			if err != nil {
				return err
			}
			array := (*cabi.DeviceArray)(out)
			err = exportBatch(m, reader.Schema(), table, array, o)
			if releasing := table.Release(); releasing != nil && err == nil {
				cabi.ReleaseArray(&array.Array)
				*array, err = cabi.DeviceArray{}, releasing
			}
			return err
		},
		close: reader.Close,
		stop:  stop,
	})
	return nil
}

func exportSchemaOf(reader interface{ Schema() *arrow.Schema }, out *cabi.Schema) error {
	schema := reader.Schema()
	if schema == nil {
		return faulty("", "the reader has no schema: %w", buffer.ErrSchema)
	}
	return writeSchema(out, schema)
}
