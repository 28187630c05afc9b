//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabitest

/*
#include "reading.h"
*/
import "C"

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// Reading is the result of a consumer in C that read a stream.
type Reading struct {
	Batches, Rows, Columns int
	DeviceType             int32
	Code                   int
	Message                string
}

// ReadDeviceStream reads a stream to its end or error, or for limit batches unless that
// is negative, and releases it. If onThread is true it runs on a thread of C.
func ReadDeviceStream(stream *cabi.DeviceStream, limit int, onThread bool) (Reading, error) {
	var result C.struct_reading
	thread := C.int(0)
	if onThread {
		thread = 1
	}
	err := joined(C.read_device_stream(unsafe.Pointer(stream), C.int64_t(limit), thread, &result))
	return Reading{
		Batches: int(result.batches), Rows: int(result.rows), Columns: int(result.columns),
		DeviceType: int32(result.device_type), Code: int(result.code), Message: C.GoString(&result.message[0]),
	}, err
}

// StreamCalls makes single calls of the callbacks that a stream once had, on any
// struct, including nil.
type StreamCalls struct{ stream cabi.DeviceStream }

// CallsOf returns the calls of a stream.
func CallsOf(stream *cabi.DeviceStream) *StreamCalls { return &StreamCalls{*stream} }

// Schema calls get_schema.
func (s *StreamCalls) Schema(self *cabi.DeviceStream, out *cabi.Schema) int {
	return int(C.call_device_schema(unsafe.Pointer(&s.stream), unsafe.Pointer(self), unsafe.Pointer(out)))
}

// Next calls get_next.
func (s *StreamCalls) Next(self *cabi.DeviceStream, out *cabi.DeviceArray) int {
	return int(C.call_device_next(unsafe.Pointer(&s.stream), unsafe.Pointer(self), unsafe.Pointer(out)))
}

// LastError calls get_last_error.
func (s *StreamCalls) LastError(self *cabi.DeviceStream) (text string, given bool) {
	message := C.call_device_error(unsafe.Pointer(&s.stream), unsafe.Pointer(self))
	return C.GoString(message), message != nil
}

// Release calls release.
func (s *StreamCalls) Release(self *cabi.DeviceStream) {
	C.call_device_release(unsafe.Pointer(&s.stream), unsafe.Pointer(self))
}

// NextOnThread calls get_next on a new thread.
func NextOnThread(stream *cabi.DeviceStream, out *cabi.DeviceArray) int {
	return int(C.call_device_next_on_thread(unsafe.Pointer(stream), unsafe.Pointer(out)))
}

// ReleaseStreamOnThread calls release on a new thread.
func ReleaseStreamOnThread(stream *cabi.DeviceStream) error {
	return joined(C.call_device_release_on_thread(unsafe.Pointer(stream)))
}
