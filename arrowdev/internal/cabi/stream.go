//go:build cgo && !(386 || arm || mips || mipsle)

package cabi

/*
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/internal/base/forks"
)

// The codes that streams return.
const (
	EINVAL    = int(C.EINVAL)
	EIO       = int(C.EIO)
	ENOMEM    = int(C.ENOMEM)
	ECANCELED = int(C.ECANCELED)
)

// maxMessage is the maximum number of bytes read of a foreign error message.
const maxMessage = 64 << 10

var (
	ownStream = Stream{
		GetSchema: uintptr(C.gpuframe_arrow_own_stream_schema), GetNext: uintptr(C.gpuframe_arrow_own_stream_next),
		GetLastError: uintptr(C.gpuframe_arrow_own_stream_error), Release: uintptr(C.gpuframe_arrow_own_stream_release),
	}
	ownDeviceStream = DeviceStream{
		GetSchema: uintptr(C.gpuframe_arrow_own_device_stream_schema), GetNext: uintptr(C.gpuframe_arrow_own_device_stream_next),
		GetLastError: uintptr(C.gpuframe_arrow_own_device_stream_error), Release: uintptr(C.gpuframe_arrow_own_device_stream_release),
	}
)

//export gpuframeArrowStreamSchema
func gpuframeArrowStreamSchema(source C.uintptr_t, out unsafe.Pointer) C.int {
	return C.int(streamSchema(uint64(source), out))
}

//export gpuframeArrowStreamNext
func gpuframeArrowStreamNext(source C.uintptr_t, out unsafe.Pointer) C.int {
	return C.int(streamNext(uint64(source), out))
}

//export gpuframeArrowStreamError
func gpuframeArrowStreamError(source C.uintptr_t) unsafe.Pointer {
	return streamError(uint64(source))
}

//export gpuframeArrowStreamRelease
func gpuframeArrowStreamRelease(source C.uintptr_t) { streamRelease(uint64(source)) }

// CallSchema calls get_schema of anybody's stream.
func (s *Stream) CallSchema(out *Schema) int {
	return int(C.gpuframe_arrow_stream_schema(s.c(), (*C.struct_gpuframe_arrow_schema)(unsafe.Pointer(out))))
}

// CallNext calls get_next.
func (s *Stream) CallNext(out *Array) int {
	return int(C.gpuframe_arrow_stream_next(s.c(), (*C.struct_gpuframe_arrow_array)(unsafe.Pointer(out))))
}

// CallLastError calls get_last_error and copies its result.
func (s *Stream) CallLastError() string { return message(C.gpuframe_arrow_stream_error(s.c())) }

// CallRelease calls release, unless the stream is released.
func (s *Stream) CallRelease() { C.gpuframe_arrow_stream_release(s.c()) }

func (s *Stream) c() *C.struct_gpuframe_arrow_stream {
	return (*C.struct_gpuframe_arrow_stream)(unsafe.Pointer(s))
}

// CallSchema calls get_schema of anybody's stream.
func (s *DeviceStream) CallSchema(out *Schema) int {
	return int(C.gpuframe_arrow_device_stream_schema(s.c(), (*C.struct_gpuframe_arrow_schema)(unsafe.Pointer(out))))
}

// CallNext calls get_next.
func (s *DeviceStream) CallNext(out *DeviceArray) int {
	return int(C.gpuframe_arrow_device_stream_next(s.c(), (*C.struct_gpuframe_arrow_device_array)(unsafe.Pointer(out))))
}

// CallLastError calls get_last_error and copies its result.
func (s *DeviceStream) CallLastError() string {
	return message(C.gpuframe_arrow_device_stream_error(s.c()))
}

// CallRelease calls release, unless the stream is released.
func (s *DeviceStream) CallRelease() { C.gpuframe_arrow_device_stream_release(s.c()) }

func (s *DeviceStream) c() *C.struct_gpuframe_arrow_device_stream {
	return (*C.struct_gpuframe_arrow_device_stream)(unsafe.Pointer(s))
}

func message(text *C.char) string {
	if text == nil {
		return ""
	}
	return C.GoStringN(text, C.int(C.strnlen(text, maxMessage)))
}

// NewMessage returns a C string, which FreeMessage frees.
func NewMessage(text string) unsafe.Pointer { return unsafe.Pointer(C.CString(text)) }

// FreeMessage frees a string of NewMessage, or nil.
func FreeMessage(text unsafe.Pointer) { C.free(text) }

func allocate(bytes uintptr) unsafe.Pointer {
	if !watchForks() {
		return nil
	}
	return C.gpuframe_arrow_allocate(C.size_t(bytes))
}

var watched atomic.Bool

// watchForks makes forks notify the callbacks. It returns false if C has no memory.
func watchForks() bool {
	if watched.Load() {
		return true
	}
	flag := forks.Watch()
	if flag == nil {
		return false
	}
	C.gpuframe_arrow_watch((*C.int)(flag))
	watched.Store(true)
	return true
}
