//go:build linux && cgo && (amd64 || arm64)

package shim

/*
#include "shim.h"

#cgo noescape shim_host_alloc
#cgo nocallback shim_host_alloc
#cgo noescape shim_host_free
#cgo nocallback shim_host_free
#cgo nocallback shim_host_register
#cgo noescape shim_host_unregister
#cgo nocallback shim_host_unregister
#cgo noescape shim_pointer_info
#cgo nocallback shim_pointer_info
#cgo nocallback shim_prefetch_async
*/
import "C"

import "unsafe"

// HostAlloc allocates page-locked host memory.
func (d Device) HostAlloc(bytes uint64) (unsafe.Pointer, Result) {
	var pointer unsafe.Pointer
	result := C.shim_host_alloc(d.c, &pointer, C.size_t(bytes))
	return pointer, Result(result)
}

// HostFree frees memory of HostAlloc.
func (d Device) HostFree(pointer unsafe.Pointer) Result {
	return Result(C.shim_host_free(d.c, (*C.char)(pointer)))
}

// HostRegister page-locks memory. The driver keeps the address, so the parameter is not
// marked noescape.
func (d Device) HostRegister(pointer unsafe.Pointer, bytes uint64) Result {
	return Result(C.shim_host_register(d.c, (*C.char)(pointer), C.size_t(bytes)))
}

// HostUnregister undoes HostRegister.
func (d Device) HostUnregister(pointer unsafe.Pointer) Result {
	return Result(C.shim_host_unregister(d.c, (*C.char)(pointer)))
}

// Values of PointerInfo's type: CUmemorytype, and zero for memory unknown to the
// driver.
const (
	TypeUnknown = 0
	TypeHost    = 1
	TypeDevice  = 2
)

// PointerInfo returns the CUmemorytype of an address, whether the memory is managed,
// and the device that owns it.
func (d Device) PointerInfo(pointer uint64) (kind uint32, managed bool, ordinal int, result Result) {
	var cKind, cManaged C.uint32_t
	var cOrdinal C.int32_t
	r := C.shim_pointer_info(d.c, &cKind, &cManaged, &cOrdinal, C.uint64_t(pointer))
	return uint32(cKind), cManaged != 0, int(cOrdinal), Result(r)
}

// PrefetchAsync enqueues a move of managed memory to the device or to the host.
func (d Device) PrefetchAsync(pointer, bytes uint64, toHost bool, stream uintptr) Result {
	return Result(C.shim_prefetch_async(d.c, C.uint64_t(pointer), C.size_t(bytes), flag(toHost), C.uintptr_t(stream)))
}

func flag(set bool) C.int32_t {
	if set {
		return 1
	}
	return 0
}
