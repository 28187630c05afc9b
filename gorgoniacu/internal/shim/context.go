//go:build linux && cgo && (amd64 || arm64)

package shim

/*
// The usual folders of cuda.h and the library. CGO_CFLAGS and CGO_LDFLAGS name other
// folders.
#cgo CFLAGS: -std=gnu11 -Wall
#cgo linux CFLAGS: -I/usr/local/cuda/include
#cgo linux LDFLAGS: -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs -lcuda -ldl

#include "shim.h"

#cgo noescape shim_enter
#cgo nocallback shim_enter
#cgo nocallback shim_leave
#cgo noescape shim_uuid
#cgo nocallback shim_uuid
*/
import "C"

import "unsafe"

// Result is a CUresult: zero for success.
type Result int32

// Success is the result of a call that worked.
const Success Result = 0

// Device is a device and its retained primary context; a copy is the same device.
type Device struct {
	c C.shim_device
}

// NewDevice makes a Device of a CUdevice and a CUcontext.
func NewDevice(handle int, context uintptr) Device {
	return Device{c: C.shim_device{context: C.uintptr_t(context), handle: C.int32_t(handle)}}
}

// Context returns the CUcontext.
func (d Device) Context() uintptr { return uintptr(d.c.context) }

// Enter makes the device's context current on the thread and returns the previous one.
// The caller has locked the thread.
func (d Device) Enter() (previous uintptr, result Result) {
	var current C.uintptr_t
	r := C.shim_enter(d.c, &current)
	return uintptr(current), Result(r)
}

// Leave restores the context that Enter returned, by the rule of context.h.
func (d Device) Leave(previous uintptr) {
	if previous != d.Context() && (previous != 0 || d.c.handle != 0) {
		C.shim_leave(C.uintptr_t(previous))
	}
}

// UUID returns the identity of a CUdevice, or that of its instance on a partitioned
// GPU. It needs driver 470 (CUDA 11.4).
func UUID(handle int) ([16]byte, Result) {
	var uuid [16]byte
	result := C.shim_uuid((*C.char)(unsafe.Pointer(&uuid[0])), C.int32_t(handle))
	return uuid, Result(result)
}
