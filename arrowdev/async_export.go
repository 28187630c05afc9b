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

// ExportAsync gives the reader's tables to an ArrowAsyncDeviceStreamHandler, and
// returns when there is no more to give: at the reader's end, after an error, when
// the consumer has cancelled, or when the context ends. All calls of the handler
// are made on the caller's goroutine, one after the other; a handler that blocks
// blocks ExportAsync. At most one set of options may be given. The context of the
// options ends what waits the extraction of a table takes.
//
// The consumer is told the schema, and then gets one task for each table that it
// has requested: the reader is asked for a table only when there is a request for
// it. The end counts as one more, so a consumer that wants to hear of it requests
// one task more than there are tables. It may request and cancel at any time, from
// any thread and from inside a callback; no call of on_next_task follows its
// cancel but one that is under way. A request for less than one task is an error, EINVAL.
//
// Each task holds its table until it is extracted, once, on any thread, then or
// later; extraction to NULL drops the table. A task that the consumer never
// extracts keeps its table for ever, unless on_next_task refused it. When a table
// cannot be exported the extraction returns an errno code, and the stream ends
// with it.
//
// An error goes to the consumer's on_error, once, with an errno code as in
// [ExportStream], and to the caller. The handler's release is the last call in
// every case; only a nil handler, one without release, and a build without cgo are
// not called at all. The reader is taken over, and is closed before the release.
//
// ExportAsync returns nil at the end of the reader and after a cancel, else an
// [*Error]. A non-zero result of on_schema or on_next_task ends the stream and
// comes back as an error that names the callback.
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
		e.place = placeOfManager(m)
	}
	producer := cabi.NewProducer(e.place.deviceType, &e.production)
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
	place      place
	options    ExportOptions
}

// refusal is a non-zero result of the consumer's.
type refusal struct{ code int }

func (r *refusal) Error() string { return fmt.Sprintf("the consumer returned code %d", r.code) }

func refused(callback string, code int) error {
	return faulty("ArrowAsyncDeviceStreamHandler."+callback, "%w", &refusal{code})
}

// run produces until there is no more to produce. Its error is for the consumer,
// unless it is a refusal.
func (e *asyncExport) run(ctx context.Context, options []ExportOptions) (err error) {
	if e.options, err = only(options); err != nil {
		return err
	}
	switch {
	case e.manager == nil:
		return faulty("manager", "it is nil: %w", device.ErrInvalidValue)
	case e.reader == nil:
		return faulty("reader", "it is nil: %w", device.ErrInvalidValue)
	case e.handler.OnSchema == 0 || e.handler.OnNextTask == 0 || e.handler.OnError == 0:
		return faulty("ArrowAsyncDeviceStreamHandler", "on_schema, on_next_task or on_error is NULL: %w", ErrInvalid)
	}
	if err := e.tellSchema(); err != nil {
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

func (e *asyncExport) tellSchema() error {
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

// batchTask is a table on its way.
type batchTask struct {
	export *asyncExport
	table  *buffer.Buffer
}

// Extract is extract_data.
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
