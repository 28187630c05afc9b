package cabi

import "unsafe"

// Production is the Go side of an exported ArrowAsyncProducer. Its methods are
// called on whatever thread the consumer calls from, also from inside a callback,
// and return soon.
type Production interface {
	// Request asks for n more tasks; n is whatever the consumer said.
	Request(n int64)
	// Cancel is called each time that the consumer calls it.
	Cancel()
}

// Task is the Go side of an exported ArrowAsyncTask.
type Task interface {
	// Extract is called once, on whatever thread. It fills the struct, which is
	// cleared, or drops the data where it is nil, and returns 0 or an errno code.
	Extract(out *DeviceArray) int
}

// Listener is the Go side of an ArrowAsyncDeviceStreamHandler of this library.
// A producer calls its methods one after the other, on whatever threads.
type Listener interface {
	OnSchema(schema *Schema) int
	// OnNextTask gets the producer's struct, which it has to copy, or nil at the
	// end.
	OnNextTask(task *AsyncTask) int
	OnError(code int, message string)
	// Released is called once, last. The producer is there until it returns.
	// Within says that the call comes out of one of this handler's own calls of
	// the producer.
	Released(within bool)
}

var (
	producers handles[Production]
	tasks     handles[Task]
	listeners handles[Listener]
)

// NewProducer returns a producer in C memory, or nil where there is none.
func NewProducer(deviceType int32, production Production) *AsyncProducer {
	p := (*AsyncProducer)(producerPool.take())
	if p != nil {
		*p = ownProducer
		p.DeviceType, p.Private = deviceType, uintptr(producers.add(production))
	}
	return p
}

// End gives the producer's memory back. Calls that come later do nothing.
func (p *AsyncProducer) End() {
	producers.take(uint64(p.Private))
	*p = ownProducer
	producerPool.put(unsafe.Pointer(p))
}

// NewTask returns a task in C memory, or nil where there is none. The memory is
// given back by FreeStruct, the task by its extraction or by TakeBack.
func NewTask(task Task) *AsyncTask {
	t := NewStruct[AsyncTask]()
	if t != nil {
		*t = ownTask
		t.Private = uintptr(tasks.add(task))
	}
	return t
}

// TakeBack ends a task of NewTask by the number that it carries as its
// private_data. It returns false where the consumer has extracted it.
func TakeBack(number uintptr) bool {
	_, ok := tasks.take(uint64(number))
	return ok
}

// NewHandler returns a handler in C memory, or nil where there is none.
func NewHandler(listener Listener) *AsyncHandler {
	h := (*AsyncHandler)(handlerPool.take())
	if h != nil {
		*h = ownHandler
		h.Private = uintptr(listeners.add(listener))
	}
	return h
}

// End gives the memory of a handler of NewHandler back. Calls that come later do
// nothing.
func (h *AsyncHandler) End() {
	listeners.take(uint64(h.Private))
	*h = ownHandler
	handlerPool.put(unsafe.Pointer(h))
}

// The calls of the other side arrive in the functions below.

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
