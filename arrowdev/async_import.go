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
	"github.com/gpuframe/gpuframe/internal/cancel"
	"github.com/gpuframe/gpuframe/memory"
)

// AsyncOptions configure ImportAsync. The zero value is right for most programs.
type AsyncOptions struct {
	// ImportOptions apply to each table. Their Context ends the wait of Close.
	ImportOptions
	// Ahead is how many tables the producer may have under way before they are
	// asked for by Next. Zero means two.
	Ahead int
}

const defaultAhead = 2

// AsyncReader reads what another library's asynchronous producer sends. It is a
// [buffer.Reader], and may be used from any goroutine. The producer calls from its
// own threads and is never kept waiting; tables are extracted and imported by
// Next.
type AsyncReader struct {
	manager *memory.Manager
	options AsyncOptions

	mu sync.Mutex
	// changed is closed, and made anew, when something below has changed.
	changed chan struct{}

	handler *cabi.AsyncHandler // nil once released
	number  uintptr            // the handler's private_data
	given   bool               // the handler may be with a producer
	started bool               // a producer has called it

	schema     *arrow.Schema
	deviceType int32
	producer   *cabi.AsyncProducer // from on_schema to release
	calls      int                 // of the producer that are under way
	requested  int64               // tasks that may still come
	tasks      []*cabi.AsyncTask
	extracting int

	ended    bool // the producer said so
	failed   error
	closed   bool
	released bool
}

var _ buffer.Reader = (*AsyncReader)(nil)

// ImportAsync makes a reader for the tables of an asynchronous producer, which is
// to be given [AsyncReader.Handler]. The manager is one for the producer's type of
// device. The caller closes the reader.
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
		return faulty("manager", "it is nil: %w", device.ErrInvalidValue)
	case options.Ahead < 0:
		return faulty("options.Ahead", "%d tables: %w", options.Ahead, device.ErrInvalidValue)
	}
	return nil
}

// Handler returns the ArrowAsyncDeviceStreamHandler*, for one producer. The reader
// keeps it until the producer has released it. Once that has happened Handler
// returns nil. A handler that is fetched and never given to a producer keeps a few
// bytes for ever.
func (r *AsyncReader) Handler() unsafe.Pointer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given = true
	return unsafe.Pointer(r.handler)
}

// Schema waits until the producer has sent the schema, and returns it; nil if none
// comes, for a reason that Next tells. A reader that no producer knows waits for
// ever, until it is closed.
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

// Next returns the producer's next table, which the caller releases, or io.EOF at
// the end. It waits for the producer until the context ends. Each table that is
// taken makes the producer free to send one more.
//
// What the producer sent before an error comes first. After an error, other than
// that of a context that ends while nothing has come, the reader fails with it
// again. The error is an [*Error]: it wraps the [*StreamError] that the producer
// told, io.ErrUnexpectedEOF where it left without an end, [ErrInvalid] where it
// does not keep to the protocol, and memory.ErrReleased for a reader that is
// closed. Close it in every case.
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

// take extracts and imports a table, and asks for one more.
func (r *AsyncReader) take(ctx context.Context, task *cabi.AsyncTask) (*buffer.Buffer, error) {
	table, err := r.extract(ctx, task)
	r.mu.Lock()
	r.extracting--
	var rest []*cabi.AsyncTask
	if err != nil {
		err = during("read async", err)
		r.failed = err
		rest, r.tasks = r.tasks, nil // nothing comes after a table that is lost
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
		return nil, faulty("ArrowAsyncTask.extract_data", "it gave no array: %w", ErrInvalid)
	}
	return importBatch(ctx, r.manager, out, r.deviceType, r.schema, r.options.ImportOptions)
}

// discard drops tasks, as the protocol wants it.
func discard(tasks []*cabi.AsyncTask) {
	for _, task := range tasks {
		task.CallExtract(nil)
		cabi.FreeStruct(task)
	}
}

// request asks the producer for n more tasks, if it is there to be asked.
func (r *AsyncReader) request(n int64) {
	r.call(func(producer *cabi.AsyncProducer) {
		r.requested += n
		r.mu.Unlock()
		producer.CallRequest(n, r.number)
		r.mu.Lock()
	}, func() bool { return !r.ended && !r.closed && r.failed == nil })
}

// call makes a call of the producer, which stays until it has returned. The
// function is called with the lock held, and unlocks it for the call.
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

// change wakes everybody who waits. The lock is held.
func (r *AsyncReader) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Close cancels the producer, drops the tables that nobody has taken, and waits
// until the producer has released the handler, or the context of the options has
// ended. A producer that has not called yet is refused when it does, and not
// waited for. It may be called any number of times; it fails only if it did not
// wait to the end.
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

// await waits for a condition. The lock is held, but not while it waits.
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
