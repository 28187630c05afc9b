//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_address_reserve
#cgo nocallback libcuda_address_reserve
#cgo nocallback libcuda_address_free
#cgo noescape libcuda_physical_granularity
#cgo nocallback libcuda_physical_granularity
#cgo noescape libcuda_physical_create
#cgo nocallback libcuda_physical_create
#cgo nocallback libcuda_physical_release
#cgo nocallback libcuda_map
#cgo nocallback libcuda_unmap
#cgo nocallback libcuda_set_access
*/
import "C"

// AddressReserve reserves addresses without memory.
func (d Device) AddressReserve(bytes, alignment uint64) (uint64, Result) {
	var pointer C.uint64_t
	result := C.libcuda_address_reserve(d.c, &pointer, C.size_t(bytes), C.size_t(alignment))
	return uint64(pointer), Result(result)
}

// AddressFree gives reserved addresses back.
func (d Device) AddressFree(pointer, bytes uint64) Result {
	return Result(C.libcuda_address_free(d.c, C.uint64_t(pointer), C.size_t(bytes)))
}

// PhysicalGranularity returns the smallest unit of physical memory and the fastest one.
func (d Device) PhysicalGranularity() (minimum, recommended uint64, result Result) {
	var cMinimum, cRecommended C.size_t
	r := C.libcuda_physical_granularity(d.c, &cMinimum, &cRecommended)
	return uint64(cMinimum), uint64(cRecommended), Result(r)
}

// PhysicalCreate creates device memory without an address.
func (d Device) PhysicalCreate(bytes uint64) (uint64, Result) {
	var physical C.uint64_t
	result := C.libcuda_physical_create(d.c, &physical, C.size_t(bytes))
	return uint64(physical), Result(result)
}

// PhysicalRelease releases the handle of such memory.
func (d Device) PhysicalRelease(physical uint64) Result {
	return Result(C.libcuda_physical_release(d.c, C.uint64_t(physical)))
}

// Map lays memory under reserved addresses.
func (d Device) Map(at, bytes, offset, physical uint64) Result {
	return Result(C.libcuda_map(d.c, C.uint64_t(at), C.size_t(bytes), C.size_t(offset), C.uint64_t(physical)))
}

// Unmap undoes Map.
func (d Device) Unmap(at, bytes uint64) Result {
	return Result(C.libcuda_unmap(d.c, C.uint64_t(at), C.size_t(bytes)))
}

// SetAccess lets the device read and write mapped memory.
func (d Device) SetAccess(at, bytes uint64) Result {
	return Result(C.libcuda_set_access(d.c, C.uint64_t(at), C.size_t(bytes)))
}
