package arrowdev

import (
	"context"
	"errors"
	"io"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/memory"
)

// StreamReader reads another library's ArrowDeviceArrayStream. It is a
// [buffer.Reader] and is safe for concurrent use.
type StreamReader struct {
	manager *memory.Manager
	options ImportOptions
	schema  *arrow.Schema

	mu     sync.Mutex
	stream *cabi.DeviceStream // nil once closed
	array  *cabi.DeviceArray
	failed error
}

var _ buffer.Reader = (*StreamReader)(nil)

// ImportStream takes over an ArrowDeviceArrayStream and reads tables from it, as
// [Import] imports them. The manager must be one for the stream's type of device. At
// most one set of options may be given; its Context is not used, because Next has a
// context.
//
// # Ownership
//
// ImportStream moves the stream in every case: the caller's struct is marked as
// released. The stream's release runs once, when the reader is closed or before
// ImportStream returns an error. Only a nil pointer, a released stream and a build
// without cgo leave nothing to release.
//
// # Errors
//
// The error is an [*Error]. It wraps [ErrDevice] for a stream of another type of
// device, [ErrInvalid], [ErrMoved], the error of [ImportSchema] about the schema, or
// the [*StreamError] of the stream.
func ImportStream(m *memory.Manager, stream unsafe.Pointer, options ...ImportOptions) (*StreamReader, error) {
	r, err := importStream(m, (*cabi.DeviceStream)(stream), options)
	if err != nil {
		return nil, during("import stream", err)
	}
	return r, nil
}

func importStream(m *memory.Manager, foreign *cabi.DeviceStream, options []ImportOptions) (*StreamReader, error) {
	switch {
	case !cabi.Available:
		return nil, notInThisBuild()
	case foreign == nil:
		return nil, faulty("ArrowDeviceArrayStream", "the pointer is nil: %w", ErrInvalid)
	case foreign.Release == 0:
		return nil, faulty("ArrowDeviceArrayStream.release", "%w", ErrMoved)
	}
	r := &StreamReader{manager: m, stream: cabi.NewStruct[cabi.DeviceStream](), array: cabi.NewStruct[cabi.DeviceArray]()}
	if r.stream == nil || r.array == nil {
		foreign.CallRelease()
		cabi.FreeStruct(r.stream)
		cabi.FreeStruct(r.array)
		return nil, outOfMemory()
	}
	*r.stream = *foreign
	foreign.Release = 0
	if err := r.open(options); err != nil {
		return nil, also(err, r.Close())
	}
	return r, nil
}

func (r *StreamReader) open(options []ImportOptions) (err error) {
	if r.options, err = only(options); err != nil {
		return err
	}
	switch {
	case r.manager == nil:
		return faulty("manager", "nil, expected a manager of the stream's type of device: %w", device.ErrInvalidValue)
	case r.stream.GetSchema == 0:
		return faulty("ArrowDeviceArrayStream.get_schema", "NULL, expected a callback: %w", ErrInvalid)
	case r.stream.GetNext == 0:
		return faulty("ArrowDeviceArrayStream.get_next", "NULL, expected a callback: %w", ErrInvalid)
	}
	if err := checkDeviceType(r.manager, "ArrowDeviceArrayStream.device_type", r.stream.DeviceType); err != nil {
		return err
	}
	r.schema, err = schemaOf(r.stream.CallSchema, r.stream.CallLastError)
	return err
}

// schemaOf fetches and reads a stream's schema.
func schemaOf(get func(*cabi.Schema) int, lastError func() string) (*arrow.Schema, error) {
	out := cabi.NewStruct[cabi.Schema]()
	if out == nil {
		return nil, outOfMemory()
	}
	defer cabi.FreeStruct(out)
	if code := get(out); code != 0 {
		return nil, &StreamError{Code: code, Message: lastError()}
	}
	return ImportSchema(unsafe.Pointer(out))
}

// Schema returns the schema of all tables.
func (r *StreamReader) Schema() *arrow.Schema { return r.schema }

// Next returns the stream's next table, which the caller releases, or io.EOF at the
// end.
//
// # Waiting
//
// Next checks the context before it calls the stream. The call itself may block and
// cannot be interrupted. The context ends the waits of the import.
//
// # Errors
//
// Later calls return the same error, unless the context ended before the stream was
// called. The error is an [*Error]. It wraps the [*StreamError] of a stream that
// failed, and memory.ErrReleased if the reader is closed.
func (r *StreamReader) Next(ctx context.Context) (*buffer.Buffer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stream == nil {
		return nil, during("read stream", faulty("", "the reader is closed: %w", memory.ErrReleased))
	}
	if r.failed != nil {
		return nil, r.failed
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := cancel.Error(ctx); err != nil {
		return nil, during("read stream", err)
	}
	table, err := r.next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		err = during("read stream", err)
	}
	r.failed = err
	return table, err
}

func (r *StreamReader) next(ctx context.Context) (*buffer.Buffer, error) {
	*r.array = cabi.DeviceArray{}
	if code := r.stream.CallNext(r.array); code != 0 {
		return nil, &StreamError{Code: code, Message: r.stream.CallLastError()}
	}
	if r.array.Array.Release == 0 {
		return nil, io.EOF
	}
	return importBatch(ctx, r.manager, r.array, r.stream.DeviceType, r.schema, r.options)
}

// importBatch imports an array of a stream, which is of one type of device.
func importBatch(ctx context.Context, m *memory.Manager, array *cabi.DeviceArray, deviceType int32, schema *arrow.Schema, o ImportOptions) (*buffer.Buffer, error) {
	if array.DeviceType != deviceType {
		err := faulty("ArrowDeviceArray.device_type", "%d, expected the stream's type %d: %w", array.DeviceType, deviceType, ErrDevice)
		batch, _ := leaseOf(m, array)
		return nil, also(err, batch.drop())
	}
	o.Context = ctx
	return importTable(m, array, schema, o)
}

// Close releases the stream after a call of Next in progress has returned. The tables
// that were read are not affected. Further calls do nothing. Close returns nil.
func (r *StreamReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stream == nil {
		return nil
	}
	r.stream.CallRelease()
	cabi.FreeStruct(r.stream)
	cabi.FreeStruct(r.array)
	r.stream, r.array = nil, nil
	return nil
}
