package arrowdev

import (
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// ImportRecordReader takes over an ArrowArrayStream of any Arrow implementation and
// reads records from it, in host memory and without copies, as [ImportRecord] does.
// [buffer.NewReader] and [buffer.FromReader] move the records to a device.
//
// # Ownership
//
// ImportRecordReader moves the stream in every case: the caller's struct is marked as
// released. The stream's release runs once, with the reader's last Release or before
// ImportRecordReader returns an error. Only a nil pointer, a released stream and a
// build without cgo leave nothing to release. Retained records outlive the reader.
//
// The reader follows arrow-go's interface: Record is valid until the next call of
// Next. Retain and Release are safe for concurrent use; call the other methods from
// one goroutine at a time.
//
// # Errors
//
// If the stream ended early, Err returns an [*Error] that wraps the [*StreamError] of
// the stream.
//
// [buffer.NewReader]:
// https://pkg.go.dev/github.com/gpuframe/gpuframe/buffer#NewReader
// [buffer.FromReader]:
// https://pkg.go.dev/github.com/gpuframe/gpuframe/buffer#FromReader
func ImportRecordReader(stream unsafe.Pointer) (array.RecordReader, error) {
	r, err := importRecordReader((*cabi.Stream)(stream))
	if err != nil {
		return nil, during("import stream", err)
	}
	return r, nil
}

func importRecordReader(foreign *cabi.Stream) (*recordReader, error) {
	switch {
	case !cabi.Available:
		return nil, notInThisBuild()
	case foreign == nil:
		return nil, faulty("ArrowArrayStream", "the pointer is nil: %w", ErrInvalid)
	case foreign.Release == 0:
		return nil, faulty("ArrowArrayStream.release", "%w", ErrMoved)
	}
	r := &recordReader{stream: cabi.NewStruct[cabi.Stream](), array: cabi.NewStruct[cabi.Array]()}
	r.references.Store(1)
	if r.stream == nil || r.array == nil {
		foreign.CallRelease()
		cabi.FreeStruct(r.stream)
		cabi.FreeStruct(r.array)
		return nil, outOfMemory()
	}
	*r.stream = *foreign
	foreign.Release = 0
	if err := r.open(); err != nil {
		r.Release()
		return nil, err
	}
	return r, nil
}

// recordReader reads an ArrowArrayStream.
type recordReader struct {
	references atomic.Int64
	stream     *cabi.Stream // nil once released
	array      *cabi.Array
	schema     *arrow.Schema
	record     arrow.Record
	ended      bool
	failed     error
}

func (r *recordReader) open() (err error) {
	switch {
	case r.stream.GetSchema == 0:
		return faulty("ArrowArrayStream.get_schema", "NULL, expected a callback: %w", ErrInvalid)
	case r.stream.GetNext == 0:
		return faulty("ArrowArrayStream.get_next", "NULL, expected a callback: %w", ErrInvalid)
	}
	r.schema, err = schemaOf(r.stream.CallSchema, r.stream.CallLastError)
	return err
}

// Retain adds a reference.
func (r *recordReader) Retain() { r.references.Add(1) }

// Release drops a reference. The last one releases the stream.
func (r *recordReader) Release() {
	if r.references.Add(-1) != 0 {
		return
	}
	r.drop()
	r.stream.CallRelease()
	cabi.FreeStruct(r.stream)
	cabi.FreeStruct(r.array)
	r.stream, r.array = nil, nil
}

// Schema returns the schema of all records.
func (r *recordReader) Schema() *arrow.Schema { return r.schema }

// Next fetches the next record.
func (r *recordReader) Next() bool {
	if r.stream == nil || r.ended {
		return false
	}
	r.drop()
	record, err := r.next()
	r.record, r.failed = record, during("read stream", err)
	r.ended = record == nil
	return !r.ended
}

// next returns no record and no error at the end.
func (r *recordReader) next() (arrow.Record, error) {
	*r.array = cabi.Array{}
	if code := r.stream.CallNext(r.array); code != 0 {
		return nil, &StreamError{Code: code, Message: r.stream.CallLastError()}
	}
	if r.array.Release == 0 {
		return nil, nil
	}
	return importHostRecord(r.array, r.schema)
}

func (r *recordReader) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

// Record returns the current record, or nil.
func (r *recordReader) Record() arrow.Record { return r.record }

// Err returns the error that ended the stream early, or nil.
func (r *recordReader) Err() error { return r.failed }
