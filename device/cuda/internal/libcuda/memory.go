//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_alloc
#cgo nocallback libcuda_alloc
#cgo nocallback libcuda_free
#cgo noescape libcuda_host_alloc
#cgo nocallback libcuda_host_alloc
#cgo noescape libcuda_host_free
#cgo nocallback libcuda_host_free
#cgo nocallback libcuda_host_register
#cgo noescape libcuda_host_unregister
#cgo nocallback libcuda_host_unregister
#cgo noescape libcuda_address_range
#cgo nocallback libcuda_address_range
#cgo noescape libcuda_pointer_info
#cgo nocallback libcuda_pointer_info
*/
import "C"

import "unsafe"

// Alloc allocates device memory.
func (d Device) Alloc(bytes uint64) (uint64, Result) {
	var pointer C.uint64_t
	result := C.libcuda_alloc(d.c, &pointer, C.size_t(bytes))
	return uint64(pointer), Result(result)
}

// Free frees device memory.
func (d Device) Free(pointer uint64) Result {
	return Result(C.libcuda_free(d.c, C.uint64_t(pointer)))
}

// HostAlloc allocates page-locked host memory.
func (d Device) HostAlloc(bytes uint64) (unsafe.Pointer, Result) {
	var pointer unsafe.Pointer
	result := C.libcuda_host_alloc(d.c, &pointer, C.size_t(bytes))
	return pointer, Result(result)
}

// HostFree frees memory of HostAlloc.
func (d Device) HostFree(pointer unsafe.Pointer) Result {
	return Result(C.libcuda_host_free(d.c, (*C.char)(pointer)))
}

// HostRegister page-locks memory. The driver keeps the address, so the parameter is not
// marked noescape.
func (d Device) HostRegister(pointer unsafe.Pointer, bytes uint64) Result {
	return Result(C.libcuda_host_register(d.c, (*C.char)(pointer), C.size_t(bytes)))
}

// HostUnregister undoes HostRegister.
func (d Device) HostUnregister(pointer unsafe.Pointer) Result {
	return Result(C.libcuda_host_unregister(d.c, (*C.char)(pointer)))
}

// AddressRange returns the allocation that contains an address.
func (d Device) AddressRange(pointer uint64) (base, bytes uint64, result Result) {
	var cBase C.uint64_t
	var cBytes C.size_t
	r := C.libcuda_address_range(d.c, &cBase, &cBytes, C.uint64_t(pointer))
	return uint64(cBase), uint64(cBytes), Result(r)
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
	r := C.libcuda_pointer_info(d.c, &cKind, &cManaged, &cOrdinal, C.uint64_t(pointer))
	return uint32(cKind), cManaged != 0, int(cOrdinal), Result(r)
}
