//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_copy_to_device
#cgo nocallback libcuda_copy_to_device
#cgo noescape libcuda_copy_to_host
#cgo nocallback libcuda_copy_to_host
#cgo nocallback libcuda_copy_on_device
#cgo nocallback libcuda_copy_to_device_async
#cgo nocallback libcuda_copy_to_host_async
#cgo nocallback libcuda_copy_on_device_async
#cgo nocallback libcuda_memset
#cgo nocallback libcuda_memset_async
*/
import "C"

import "unsafe"

// The asynchronous copies of host memory are not marked noescape: the driver uses the
// address after they return.

// CopyToDevice copies and waits.
func (d Device) CopyToDevice(destination uint64, source unsafe.Pointer, bytes uint64) Result {
	return Result(C.libcuda_copy_to_device(d.c, C.uint64_t(destination), (*C.char)(source), C.size_t(bytes)))
}

// CopyToHost copies and waits.
func (d Device) CopyToHost(destination unsafe.Pointer, source, bytes uint64) Result {
	return Result(C.libcuda_copy_to_host(d.c, (*C.char)(destination), C.uint64_t(source), C.size_t(bytes)))
}

// CopyOnDevice copies and waits.
func (d Device) CopyOnDevice(destination, source, bytes uint64) Result {
	return Result(C.libcuda_copy_on_device(d.c, C.uint64_t(destination), C.uint64_t(source), C.size_t(bytes)))
}

// CopyToDeviceAsync enqueues a copy.
func (d Device) CopyToDeviceAsync(destination uint64, source unsafe.Pointer, bytes uint64, stream uintptr) Result {
	return Result(C.libcuda_copy_to_device_async(d.c, C.uint64_t(destination), (*C.char)(source), C.size_t(bytes), C.uintptr_t(stream)))
}

// CopyToHostAsync enqueues a copy.
func (d Device) CopyToHostAsync(destination unsafe.Pointer, source, bytes uint64, stream uintptr) Result {
	return Result(C.libcuda_copy_to_host_async(d.c, (*C.char)(destination), C.uint64_t(source), C.size_t(bytes), C.uintptr_t(stream)))
}

// CopyOnDeviceAsync enqueues a copy.
func (d Device) CopyOnDeviceAsync(destination, source, bytes uint64, stream uintptr) Result {
	return Result(C.libcuda_copy_on_device_async(d.c, C.uint64_t(destination), C.uint64_t(source), C.size_t(bytes), C.uintptr_t(stream)))
}

// Memset fills count values of 1, 2 or 4 bytes and waits.
func (d Device) Memset(destination uint64, value uint32, width int, count uint64) Result {
	return Result(C.libcuda_memset(d.c, C.uint64_t(destination), C.uint32_t(value), C.int32_t(width), C.size_t(count)))
}

// MemsetAsync enqueues a fill of count values of 1, 2 or 4 bytes.
func (d Device) MemsetAsync(destination uint64, value uint32, width int, count uint64, stream uintptr) Result {
	return Result(C.libcuda_memset_async(d.c, C.uint64_t(destination), C.uint32_t(value), C.int32_t(width), C.size_t(count), C.uintptr_t(stream)))
}
