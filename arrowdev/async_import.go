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

// AsyncOptions configure ImportAsync. The zero value is right for most programs.
type AsyncOptions struct {
	// ImportOptions apply to each table. Their Context ends the wait of Close.
	ImportOptions
	// Ahead is the number of tables that the producer may prepare before Next is
	// called. Zero means two.
	Ahead int
}

const defaultAhead = 2

// AsyncReader reads the tables of another library's asynchronous producer. It is a
// [buffer.Reader] and is safe for concurrent use. The producer calls from foreign
// threads and never waits; Next extracts and imports the tables.
type AsyncReader struct {
	manager *memory.Manager
	options AsyncOptions

	mu sync.Mutex
	// changed is closed and replaced when one of the fields below changes.
	changed chan struct{}

	handler *cabi.AsyncHandler // nil once released
	number  uintptr            // the handler's private_data
	given   bool               // a producer may hold the handler
	started bool               // a producer has called the handler

	schema     *arrow.Schema
	deviceType int32
	producer   *cabi.AsyncProducer // from on_schema to release
	calls      int                 // calls of the producer in progress
	requested  int64               // tasks that the producer may still send
	tasks      []*cabi.AsyncTask
	extracting int

	ended    bool // the producer has sent the end of the stream
	failed   error
	closed   bool
	released bool
}

var _ buffer.Reader = (*AsyncReader)(nil)

// ImportAsync makes a reader for the tables of an asynchronous producer. Pass
// [AsyncReader.Handler] to the producer. The manager must be one for the producer's
// type of device. The caller closes the reader.
func ImportAsync(m *memory.Manager, options AsyncOptions) (*AsyncReader, error) {
	if err := checkAsync(m, options); err != nil {
		return nil, during("import async", err)
	}
	if options.Ahead == 0 {
		options.Ahead = defaultAhead
	}
	r := &AsyncReader{manager: m, options: options, changed: make(chan struct{})}
	if r.handler = cabi.NewHandler(&listener{r}); r.handler == nil {
		return nil, during("import async", outOfMemory())
	}
	r.number = r.handler.Private
	return r, nil
}

func checkAsync(m *memory.Manager, options AsyncOptions) error {
	switch {
	case !cabi.Available:
		return notInThisBuild()
	case m == nil:
		return faulty("manager", "nil, expected a manager of the producer's type of device: %w", device.ErrInvalidValue)
	case options.Ahead < 0:
		return faulty("options.Ahead", "%d, expected zero or more tables: %w", options.Ahead, device.ErrInvalidValue)
	}
	return nil
}

// Handler returns the ArrowAsyncDeviceStreamHandler* for one producer.
//
// # Ownership
//
// The reader keeps the handler until the producer has released it; after that Handler
// returns nil. A handler that was fetched but never passed to a producer leaks a few
// bytes.
func (r *AsyncReader) Handler() unsafe.Pointer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given = true
	return unsafe.Pointer(r.handler)
}

// Schema waits for the producer's schema and returns it. It returns nil if the stream
// ends without a schema; Next then returns the reason. If no producer has the
// handler, Schema waits until the reader is closed.
func (r *AsyncReader) Schema() *arrow.Schema {
	schema, _ := r.AwaitSchema(context.Background())
	return schema
}

// AwaitSchema is Schema with a context that ends the wait.
func (r *AsyncReader) AwaitSchema(ctx context.Context) (*arrow.Schema, error) {
	for {
		r.mu.Lock()
		schema, failed, closed, changed := r.schema, r.failed, r.closed, r.changed
		r.mu.Unlock()
		switch {
		case schema != nil:
			return schema, nil
		case failed != nil:
			return nil, failed
		case closed:
			return nil, closedReader()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, during("read async", cancel.Error(ctx))
		}
	}
}

func closedReader() error {
	return during("read async", faulty("", "the reader is closed: %w", memory.ErrReleased))
}

// Next returns the producer's next table, which the caller releases, or io.EOF at the
// end. Each table that Next returns lets the producer send one more.
//
// # Waiting
//
// Next waits for the producer until the context ends.
//
// # Errors
//
// Next returns the tables that the producer sent before an error, then the error.
// Later calls return the same error, unless the error was that of the context and no
// table had come. The error is an [*Error]. It wraps the producer's [*StreamError],
// io.ErrUnexpectedEOF if the producer left without an end, [ErrInvalid] if it broke
// the protocol, or memory.ErrReleased if the reader is closed. Close the reader in
// every case.
func (r *AsyncReader) Next(ctx context.Context) (*buffer.Buffer, error) {
	for {
		if err := cancel.Error(ctx); err != nil {
			return nil, during("read async", err)
		}
		r.mu.Lock()
		switch {
		case r.closed:
			r.mu.Unlock()
			return nil, closedReader()
		case len(r.tasks) > 0:
			task := r.tasks[0]
			r.tasks = r.tasks[1:]
			r.extracting++
			r.mu.Unlock()
			return r.take(ctx, task)
		case r.failed != nil:
			r.mu.Unlock()
			return nil, r.failed
		case r.ended:
			r.mu.Unlock()
			return nil, io.EOF
		}
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// take extracts and imports a table, and requests one more.
func (r *AsyncReader) take(ctx context.Context, task *cabi.AsyncTask) (*buffer.Buffer, error) {
	table, err := r.extract(ctx, task)
	r.mu.Lock()
	r.extracting--
	var rest []*cabi.AsyncTask
	if err != nil {
		err = during("read async", err)
		r.failed = err
		rest, r.tasks = r.tasks, nil // a lost table ends the stream
	}
	r.change()
	r.mu.Unlock()
	discard(rest)
	if err == nil {
		r.request(1)
	}
	return table, err
}

func (r *AsyncReader) extract(ctx context.Context, task *cabi.AsyncTask) (*buffer.Buffer, error) {
	out := cabi.NewStruct[cabi.DeviceArray]()
	defer cabi.FreeStruct(out)
	defer cabi.FreeStruct(task)
	code := task.CallExtract(out)
	switch {
	case out == nil:
		return nil, outOfMemory()
	case code != 0:
		return nil, faulty("ArrowAsyncTask.extract_data", "%w", &StreamError{Code: code})
	case out.Array.Release == 0:
		return nil, faulty("ArrowAsyncTask.extract_data", "the task returned no array: %w", ErrInvalid)
	}
	return importBatch(ctx, r.manager, out, r.deviceType, r.schema, r.options.ImportOptions)
}

// discard drops tasks. The protocol requires an extraction to NULL.
func discard(tasks []*cabi.AsyncTask) {
	for _, task := range tasks {
		task.CallExtract(nil)
		cabi.FreeStruct(task)
	}
}

// request requests n more tasks if the producer is present.
func (r *AsyncReader) request(n int64) {
	r.call(func(producer *cabi.AsyncProducer) {
		r.requested += n
		r.mu.Unlock()
		producer.CallRequest(n, r.number)
		r.mu.Lock()
	}, func() bool { return !r.ended && !r.closed && r.failed == nil })
}

// call calls the producer, which stays until the call has returned. The lock is held
// on entry; call unlocks it while it calls f.
func (r *AsyncReader) call(f func(*cabi.AsyncProducer), wanted func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.producer == nil || !wanted() {
		return
	}
	r.calls++
	f(r.producer)
	r.calls--
	r.change()
}

// change wakes all waiting calls. The lock is held.
func (r *AsyncReader) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Close cancels the producer, drops the tables that Next has not returned, and waits
// until the producer has released the handler or the context of the options has
// ended. A producer that has not called yet is refused when it calls; Close does not
// wait for it. Further calls do nothing. Close fails only if the context ended its
// wait.
func (r *AsyncReader) Close() error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		tasks := r.tasks
		r.tasks = nil
		if !r.given && !r.started {
			r.handler.End()
			r.handler, r.released = nil, true
		}
		r.change()
		r.mu.Unlock()
		r.call(func(producer *cabi.AsyncProducer) {
			r.mu.Unlock()
			producer.CallCancel(r.number)
			r.mu.Lock()
		}, func() bool { return true })
		discard(tasks)
		r.mu.Lock()
	}
	defer r.mu.Unlock()
	return r.await(r.options.Context, func() bool {
		return r.extracting == 0 && r.calls == 0 && (r.released || !r.started)
	})
}

// await waits for a condition. The lock is held, except during the wait.
func (r *AsyncReader) await(ctx context.Context, condition func() bool) error {
	if ctx == nil {
		ctx = context.Background()
	}
	for !condition() {
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		r.mu.Lock()
		if ctx.Err() != nil && !condition() {
			return during("close async", errors.Join(faulty("", "the producer has not released the handler"), cancel.Error(ctx)))
		}
	}
	return nil
}
