package cabi

import "unsafe"

// Production is the Go side of an exported ArrowAsyncProducer. The consumer may call
// its methods on any thread, also inside a callback; they return quickly.
type Production interface {
	// Request requests n more tasks. n is the consumer's value, unchecked.
	Request(n int64)
	// Cancel is called for each cancel of the consumer.
	Cancel()
}

// Task is the Go side of an exported ArrowAsyncTask.
type Task interface {
	// Extract is called once, on any thread. It fills the cleared struct, or drops the
	// data if out is nil, and returns 0 or an errno code.
	Extract(out *DeviceArray) int
}

// Listener is the Go side of an ArrowAsyncDeviceStreamHandler of this library. A
// producer calls its methods serially, on any threads.
type Listener interface {
	OnSchema(schema *Schema) int
	// OnNextTask receives the producer's struct, which it must copy, or nil at the end.
	OnNextTask(task *AsyncTask) int
	OnError(code int, message string)
	// Released is called once, last. The producer exists until it returns. within is
	// true if a call of the producer by this handler has made the call.
	Released(within bool)
}

var (
	producers handles[Production]
	tasks     handles[Task]
	listeners handles[Listener]
)

// NewProducer returns a producer in C memory, or nil if C has no memory.
func NewProducer(deviceType int32, production Production) *AsyncProducer {
	p := (*AsyncProducer)(producerPool.take())
	if p != nil {
		*p = ownProducer
		p.DeviceType, p.Private = deviceType, uintptr(producers.add(production))
	}
	return p
}

// End frees the producer's memory. Later calls do nothing.
func (p *AsyncProducer) End() {
	producers.take(uint64(p.Private))
	*p = ownProducer
	producerPool.put(unsafe.Pointer(p))
}

// NewTask returns a task in C memory, or nil if C has no memory. FreeStruct frees the
// memory; the extraction or TakeBack ends the task.
func NewTask(task Task) *AsyncTask {
	t := NewStruct[AsyncTask]()
	if t != nil {
		*t = ownTask
		t.Private = uintptr(tasks.add(task))
	}
	return t
}

// TakeBack ends a task of NewTask by the number in its private_data. It returns false
// if the consumer has extracted the task.
func TakeBack(number uintptr) bool {
	_, ok := tasks.take(uint64(number))
	return ok
}

// NewHandler returns a handler in C memory, or nil if C has no memory.
func NewHandler(listener Listener) *AsyncHandler {
	h := (*AsyncHandler)(handlerPool.take())
	if h != nil {
		*h = ownHandler
		h.Private = uintptr(listeners.add(listener))
	}
	return h
}

// End frees the memory of a handler of NewHandler. Later calls do nothing.
func (h *AsyncHandler) End() {
	listeners.take(uint64(h.Private))
	*h = ownHandler
	handlerPool.put(unsafe.Pointer(h))
}

// C calls the functions below for the calls of the other side.

func requested(number uint64, n int64) {
	if production, ok := producers.find(number); ok {
		production.Request(n)
	}
}

func cancelled(number uint64) {
	if production, ok := producers.find(number); ok {
		production.Cancel()
	}
}

func extract(number uint64, out *DeviceArray) int {
	if task, ok := tasks.take(number); ok {
		return task.Extract(out)
	}
	return EINVAL
}

func onSchema(number uint64, schema *Schema) int {
	if listener, ok := listeners.find(number); ok {
		return listener.OnSchema(schema)
	}
	return EINVAL
}

func onNextTask(number uint64, task *AsyncTask) int {
	if listener, ok := listeners.find(number); ok {
		return listener.OnNextTask(task)
	}
	return EINVAL
}

func onError(number uint64, code int, message string) {
	if listener, ok := listeners.find(number); ok {
		listener.OnError(code, message)
	}
}

func handlerReleased(number uint64, within bool) {
	if listener, ok := listeners.take(number); ok {
		listener.Released(within)
	}
}
