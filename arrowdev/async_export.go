package arrowdev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// ExportAsync sends the reader's tables to an ArrowAsyncDeviceStreamHandler. It
// returns at the reader's end, after an error, when the consumer has cancelled, or
// when the context ends. It calls the handler only on the caller's goroutine, one
// call at a time, so a handler that blocks blocks ExportAsync. At most one set of
// options may be given; their Context ends the waits of a table's extraction.
//
// # Protocol
//
// The consumer receives the schema, and then one task for each table that it has
// requested. ExportAsync reads a table only after a request for it. The end of the
// stream takes one request too: a consumer that needs the end notification requests
// one task more than the number of tables. The consumer may request and cancel at any
// time, from any thread and inside a callback. After a cancel no new call of
// on_next_task begins. A request for less than one task is an error, EINVAL.
//
// # Ownership
//
// Each task holds its table until the consumer extracts it, once, on any thread,
// during the callback or later. Extraction to NULL drops the table. A task that the
// consumer accepts and never extracts leaks its table. If a table cannot be exported,
// the extraction returns an errno code, and the stream ends with that error.
//
// ExportAsync closes the reader in every case, before it calls the handler's release.
//
// # Errors
//
// The consumer's on_error receives an error once, with an errno code as in
// [ExportStream]; the caller receives it too. The handler's release is the last call
// in every case. If the handler is nil or has no release, or the build has no cgo,
// the handler is not called at all.
//
// ExportAsync returns nil at the end of the reader and after a cancel, else an
// [*Error]. A non-zero result of on_schema or on_next_task ends the stream; the error
// names the callback.
func ExportAsync(ctx context.Context, m *memory.Manager, reader buffer.Reader, handler unsafe.Pointer, options ...ExportOptions) error {
	err := exportAsync(ctx, m, reader, (*cabi.AsyncHandler)(handler), options)
	return during("export async", err)
}

func exportAsync(ctx context.Context, m *memory.Manager, reader buffer.Reader, handler *cabi.AsyncHandler, options []ExportOptions) (err error) {
	if reader != nil {
		reader = &closeOnce{Reader: reader}
		defer func() { err = also(err, reader.Close()) }()
	}
	switch {
	case !cabi.Available:
		return notInThisBuild()
	case handler == nil:
		return faulty("ArrowAsyncDeviceStreamHandler", "the pointer is nil: %w", ErrInvalid)
	case handler.Release == 0:
		return faulty("ArrowAsyncDeviceStreamHandler.release", "%w", ErrMoved)
	}
	e := &asyncExport{handler: handler, manager: m, reader: reader}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, e.production.stop = context.WithCancel(ctx)
	defer e.production.stop()
	e.production.wake = make(chan struct{}, 1)
	if m != nil {
		e.location = locationOfManager(m)
	}
	producer := cabi.NewProducer(e.location.deviceType, &e.production)
	if producer == nil {
		handler.CallRelease()
		return outOfMemory()
	}
	handler.Producer = uintptr(unsafe.Pointer(producer))
	defer producer.End()

	err = e.run(ctx, options)
	e.production.finish()
	var refused *refusal
	if err != nil && !errors.As(err, &refused) && handler.OnError != 0 {
		handler.CallOnError(errnoOf(err), err.Error())
	}
	if reader != nil {
		err = also(err, reader.Close())
	}
	handler.CallRelease()
	return err
}

// asyncExport is a call of ExportAsync.
type asyncExport struct {
	production production
	handler    *cabi.AsyncHandler
	manager    *memory.Manager
	reader     buffer.Reader
	schema     *arrow.Schema
	location   location
	options    ExportOptions
}

// refusal is a non-zero result of a consumer's callback.
type refusal struct{ code int }

func (r *refusal) Error() string { return fmt.Sprintf("the consumer returned code %d", r.code) }

func refused(callback string, code int) error {
	return faulty("ArrowAsyncDeviceStreamHandler."+callback, "%w", &refusal{code})
}

// run sends tables until the stream ends. The caller passes the error on to the
// consumer, unless it is a refusal.
func (e *asyncExport) run(ctx context.Context, options []ExportOptions) (err error) {
	if e.options, err = only(options); err != nil {
		return err
	}
	switch {
	case e.manager == nil:
		return faulty("manager", "nil, expected the manager of the tables' device: %w", device.ErrInvalidValue)
	case e.reader == nil:
		return faulty("reader", "nil, expected an open buffer.Reader: %w", device.ErrInvalidValue)
	case e.handler.OnSchema == 0 || e.handler.OnNextTask == 0 || e.handler.OnError == 0:
		return faulty("ArrowAsyncDeviceStreamHandler", "on_schema, on_next_task or on_error is NULL: %w", ErrInvalid)
	}
	if err := e.sendSchema(); err != nil {
		return err
	}
	for {
		if more, err := e.production.await(ctx); !more {
			return err
		}
		var table *buffer.Buffer
		err := guarded(func() (err error) {
			table, err = e.reader.Next(ctx)
			return err
		})
		if more, err := e.production.await(ctx); !more {
			return also(err, table.Release())
		}
		if err == io.EOF {
			if code := e.handler.CallOnNextTask(nil); code != 0 {
				return refused("on_next_task", code)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := e.deliver(table); err != nil {
			return err
		}
	}
}

func (e *asyncExport) sendSchema() error {
	schema := cabi.NewStruct[cabi.Schema]()
	if schema == nil {
		return outOfMemory()
	}
	defer cabi.FreeStruct(schema)
	if err := guarded(func() error { e.schema = e.reader.Schema(); return exportSchemaOf(e.reader, schema) }); err != nil {
		return err
	}
	code := e.handler.CallOnSchema(schema)
	cabi.ReleaseSchema(schema) // unless the consumer has done so or moved it
	if code != 0 {
		return refused("on_schema", code)
	}
	return nil
}

// deliver gives the table to the consumer.
func (e *asyncExport) deliver(table *buffer.Buffer) error {
	task := cabi.NewTask(&batchTask{export: e, table: table})
	if task == nil {
		return also(outOfMemory(), table.Release())
	}
	defer cabi.FreeStruct(task)
	number := task.Private
	e.production.delivering()
	code := e.handler.CallOnNextTask(task)
	if code == 0 {
		return nil
	}
	err := refused("on_next_task", code)
	if cabi.TakeBack(number) {
		err = also(err, table.Release())
	}
	return err
}

// batchTask is a task that holds one table.
type batchTask struct {
	export *asyncExport
	table  *buffer.Buffer
}

// Extract implements extract_data.
func (t *batchTask) Extract(out *cabi.DeviceArray) int {
	e := t.export
	err := guarded(func() error {
		if out == nil {
			return nil
		}
		return exportBatch(e.manager, e.schema, t.table, out, e.options)
	})
	if releasing := t.table.Release(); releasing != nil && err == nil {
		if err = releasing; out != nil {
			cabi.ReleaseArray(&out.Array)
			*out = cabi.DeviceArray{}
		}
	}
	if err != nil {
		e.production.fail(during("extract_data", err))
	}
	return errnoOf(err)
}

// closeOnce closes a reader once.
type closeOnce struct {
	buffer.Reader
	closed bool
}

func (c *closeOnce) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	return guarded(c.Reader.Close)
}
