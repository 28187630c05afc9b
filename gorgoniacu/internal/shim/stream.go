//go:build linux && cgo && (amd64 || arm64)

package shim

/*
#include "shim.h"

#cgo nocallback shim_stream_destroy
#cgo nocallback shim_stream_synchronize
#cgo nocallback shim_stream_query
#cgo noescape shim_stream_capturing
#cgo nocallback shim_stream_capturing
#cgo nocallback shim_stream_wait_event
#cgo nocallback shim_event_record
*/
import "C"

// StreamDestroy destroys a stream; enqueued work still runs.
func (d Device) StreamDestroy(stream uintptr) Result {
	return Result(C.shim_stream_destroy(d.c, C.uintptr_t(stream)))
}

// StreamSynchronize waits for a stream.
func (d Device) StreamSynchronize(stream uintptr) Result {
	return Result(C.shim_stream_synchronize(d.c, C.uintptr_t(stream)))
}

// StreamQuery reports whether the work of a stream is done.
func (d Device) StreamQuery(stream uintptr) Result {
	return Result(C.shim_stream_query(d.c, C.uintptr_t(stream)))
}

// StreamCapturing returns a CUstreamCaptureStatus: zero if the stream is not being
// captured.
func (d Device) StreamCapturing(stream uintptr) (int32, Result) {
	var status C.int32_t
	result := C.shim_stream_capturing(d.c, C.uintptr_t(stream), &status)
	return int32(status), Result(result)
}

// StreamWaitEvent makes a stream wait for an event.
func (d Device) StreamWaitEvent(stream, event uintptr) Result {
	return Result(C.shim_stream_wait_event(d.c, C.uintptr_t(stream), C.uintptr_t(event)))
}

// EventRecord marks a stream's work.
func (d Device) EventRecord(event, stream uintptr) Result {
	return Result(C.shim_event_record(d.c, C.uintptr_t(event), C.uintptr_t(stream)))
}
