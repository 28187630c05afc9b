//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_stream_create
#cgo nocallback libcuda_stream_create
#cgo nocallback libcuda_stream_destroy
#cgo nocallback libcuda_stream_synchronize
#cgo nocallback libcuda_stream_query
#cgo nocallback libcuda_stream_wait_event
#cgo noescape libcuda_event_create
#cgo nocallback libcuda_event_create
#cgo nocallback libcuda_event_destroy
#cgo nocallback libcuda_event_record
#cgo nocallback libcuda_event_query
#cgo nocallback libcuda_event_synchronize
#cgo noescape libcuda_event_elapsed
#cgo nocallback libcuda_event_elapsed
*/
import "C"

// StreamCreate makes a stream that does not wait for the default stream.
func (d Device) StreamCreate() (uintptr, Result) {
	var stream C.uintptr_t
	result := C.libcuda_stream_create(d.c, &stream)
	return uintptr(stream), Result(result)
}

// StreamDestroy destroys a stream; its work still completes.
func (d Device) StreamDestroy(stream uintptr) Result {
	return Result(C.libcuda_stream_destroy(d.c, C.uintptr_t(stream)))
}

// StreamSynchronize waits for a stream's work.
func (d Device) StreamSynchronize(stream uintptr) Result {
	return Result(C.libcuda_stream_synchronize(d.c, C.uintptr_t(stream)))
}

// StreamQuery reports whether a stream's work is done.
func (d Device) StreamQuery(stream uintptr) Result {
	return Result(C.libcuda_stream_query(d.c, C.uintptr_t(stream)))
}

// StreamWaitEvent makes a stream wait for an event on the device.
func (d Device) StreamWaitEvent(stream, event uintptr) Result {
	return Result(C.libcuda_stream_wait_event(d.c, C.uintptr_t(stream), C.uintptr_t(event)))
}

// EventCreate makes an event, with or without a clock.
func (d Device) EventCreate(timing bool) (uintptr, Result) {
	var event C.uintptr_t
	var flag C.int32_t
	if timing {
		flag = 1
	}
	result := C.libcuda_event_create(d.c, &event, flag)
	return uintptr(event), Result(result)
}

// EventDestroy destroys an event.
func (d Device) EventDestroy(event uintptr) Result {
	return Result(C.libcuda_event_destroy(d.c, C.uintptr_t(event)))
}

// EventRecord marks the enqueued work of a stream.
func (d Device) EventRecord(event, stream uintptr) Result {
	return Result(C.libcuda_event_record(d.c, C.uintptr_t(event), C.uintptr_t(stream)))
}

// EventQuery reports whether the marked work is done.
func (d Device) EventQuery(event uintptr) Result {
	return Result(C.libcuda_event_query(d.c, C.uintptr_t(event)))
}

// EventSynchronize waits for the marked work.
func (d Device) EventSynchronize(event uintptr) Result {
	return Result(C.libcuda_event_synchronize(d.c, C.uintptr_t(event)))
}

// EventElapsed returns the milliseconds between two events.
func (d Device) EventElapsed(start, end uintptr) (float32, Result) {
	var milliseconds C.float
	result := C.libcuda_event_elapsed(d.c, &milliseconds, C.uintptr_t(start), C.uintptr_t(end))
	return float32(milliseconds), Result(result)
}
