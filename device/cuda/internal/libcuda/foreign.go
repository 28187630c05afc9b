//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo nocallback libcuda_event_record_all
#cgo noescape libcuda_stream_identity
#cgo nocallback libcuda_stream_identity
#cgo noescape libcuda_stream_capturing
#cgo nocallback libcuda_stream_capturing
*/
import "C"

// EventRecordAll marks the work of all streams of the context.
func (d Device) EventRecordAll(event uintptr) Result {
	return Result(C.libcuda_event_record_all(d.c, C.uintptr_t(event)))
}

// StreamIdentity returns the driver's number of a stream.
func (d Device) StreamIdentity(stream uintptr) (uint64, Result) {
	var identity C.uint64_t
	result := C.libcuda_stream_identity(d.c, C.uintptr_t(stream), &identity)
	return uint64(identity), Result(result)
}

// StreamCapturing returns a CUstreamCaptureStatus: zero if the stream is not being
// captured.
func (d Device) StreamCapturing(stream uintptr) (int32, Result) {
	var status C.int32_t
	result := C.libcuda_stream_capturing(d.c, C.uintptr_t(stream), &status)
	return int32(status), Result(result)
}
