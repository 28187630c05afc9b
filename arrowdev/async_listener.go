package arrowdev

import (
	"context"
	"io"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// listener is the side of an AsyncReader that the producer calls, one call at a time,
// on any thread. Its methods wait only for calls of the producer that are in
// progress.
type listener struct{ *AsyncReader }

// OnSchema implements on_schema.
func (r *listener) OnSchema(schema *cabi.Schema) int {
	r.mu.Lock()
	r.started = true
	again, closed := r.schema != nil || r.failed != nil, r.closed
	producer := (*cabi.AsyncProducer)(address.Pointer(r.handler.Producer))
	r.mu.Unlock()
	imported, err := ImportSchema(unsafe.Pointer(schema))
	switch {
	case closed:
		return cabi.ECANCELED
	case again:
		err = faulty("ArrowAsyncDeviceStreamHandler.on_schema", "called twice: %w", ErrInvalid)
	case err != nil:
	case producer == nil || producer.Request == 0 || producer.Cancel == 0:
		err = faulty("ArrowAsyncDeviceStreamHandler.producer", "the producer, its request or its cancel is NULL: %w", ErrInvalid)
	default:
		err = checkDeviceType(r.manager, "ArrowAsyncProducer.device_type", producer.DeviceType)
	}
	if err != nil {
		r.fail(err)
		return errnoOf(err)
	}
	r.mu.Lock()
	if closed = r.closed; !closed {
		r.schema, r.producer, r.deviceType = imported, producer, producer.DeviceType
	}
	r.change()
	r.mu.Unlock()
	if closed {
		return cabi.ECANCELED
	}
	r.request(int64(r.options.Ahead))
	return 0
}

// OnNextTask implements on_next_task. An unrequested task is dropped, not refused,
// because the standard does not define the state of a refused task.
func (r *listener) OnNextTask(task *cabi.AsyncTask) int {
	err := r.enqueue(task)
	if err != nil {
		r.fail(err)
	}
	return 0
}

func (r *listener) enqueue(task *cabi.AsyncTask) error {
	r.mu.Lock()
	r.started = true
	var err error
	switch {
	case task == nil:
		r.ended = true
		r.change()
		r.mu.Unlock()
		return nil
	case r.closed || r.failed != nil:
	case task.ExtractData == 0:
		err = faulty("ArrowAsyncTask.extract_data", "NULL, expected a callback: %w", ErrInvalid)
	case r.ended:
		err = faulty("ArrowAsyncDeviceStreamHandler.on_next_task", "a task came after the end: %w", ErrInvalid)
	case r.requested <= 0:
		err = faulty("ArrowAsyncDeviceStreamHandler.on_next_task", "a task came without a request: %w", ErrInvalid)
	default:
		kept := cabi.NewStruct[cabi.AsyncTask]()
		if kept == nil {
			err = outOfMemory()
			break
		}
		*kept = *task
		r.tasks = append(r.tasks, kept)
		r.requested--
		r.change()
		r.mu.Unlock()
		return nil
	}
	r.mu.Unlock()
	if task.ExtractData != 0 {
		task.CallExtract(nil)
	}
	return err
}

// OnError implements on_error.
func (r *listener) OnError(code int, message string) {
	r.fail(&StreamError{Code: code, Message: message})
}

// fail records the first failure. Next returns it after the tasks that came before
// it.
func (r *listener) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = true
	if r.failed == nil && !r.closed {
		r.failed = during("read async", err)
	}
	r.change()
}

// Released implements release. The producer becomes invalid when Released returns, so
// Released waits for the calls of it on other threads, but not for the call that it
// was made from.
func (r *listener) Released(within bool) {
	under := 0
	if within {
		under = 1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started, r.producer = true, nil
	if !r.ended && !r.closed && r.failed == nil {
		r.failed = during("read async", faulty("", "the producer has released the handler without an end: %w", io.ErrUnexpectedEOF))
	}
	r.change()
	_ = r.await(context.Background(), func() bool { return r.calls <= under })
	r.handler.End()
	r.handler, r.released = nil, true
	r.change()
}
