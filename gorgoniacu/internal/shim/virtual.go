//go:build linux && cgo && (amd64 || arm64)

package shim

/*
#include "shim.h"

#cgo noescape shim_address_reserve
#cgo nocallback shim_address_reserve
#cgo nocallback shim_address_free
#cgo noescape shim_physical_granularity
#cgo nocallback shim_physical_granularity
#cgo noescape shim_physical_create
#cgo nocallback shim_physical_create
#cgo nocallback shim_physical_release
#cgo noescape shim_physical_export
#cgo nocallback shim_physical_export
#cgo noescape shim_physical_import
#cgo nocallback shim_physical_import
#cgo nocallback shim_map
#cgo nocallback shim_unmap
#cgo nocallback shim_set_access
*/
import "C"

// AddressReserve reserves addresses.
func (d Device) AddressReserve(bytes, alignment uint64) (uint64, Result) {
	var pointer C.uint64_t
	result := C.shim_address_reserve(d.c, &pointer, C.size_t(bytes), C.size_t(alignment))
	return uint64(pointer), Result(result)
}

// AddressFree gives a reservation back.
func (d Device) AddressFree(pointer, bytes uint64) Result {
	return Result(C.shim_address_free(d.c, C.uint64_t(pointer), C.size_t(bytes)))
}

// PhysicalGranularity returns the smallest unit of physical memory and the one that the
// driver recommends.
func (d Device) PhysicalGranularity() (minimum, recommended uint64, result Result) {
	var cMinimum, cRecommended C.size_t
	r := C.shim_physical_granularity(d.c, &cMinimum, &cRecommended)
	return uint64(cMinimum), uint64(cRecommended), Result(r)
}

// PhysicalCreate creates physical memory. If shared is true, other processes can open
// it.
func (d Device) PhysicalCreate(bytes uint64, shared bool) (uint64, Result) {
	var physical C.uint64_t
	result := C.shim_physical_create(d.c, &physical, C.size_t(bytes), flag(shared))
	return uint64(physical), Result(result)
}

// PhysicalRelease ends a handle.
func (d Device) PhysicalRelease(physical uint64) Result {
	return Result(C.shim_physical_release(d.c, C.uint64_t(physical)))
}

// PhysicalExport makes a file descriptor for shared memory.
func (d Device) PhysicalExport(physical uint64) (int, Result) {
	descriptor := C.int32_t(-1)
	result := C.shim_physical_export(d.c, &descriptor, C.uint64_t(physical))
	return int(descriptor), Result(result)
}

// PhysicalImport makes a handle for the memory behind a descriptor.
func (d Device) PhysicalImport(descriptor int) (uint64, Result) {
	var physical C.uint64_t
	result := C.shim_physical_import(d.c, &physical, C.int32_t(descriptor))
	return uint64(physical), Result(result)
}

// Map maps physical memory at addresses.
func (d Device) Map(at, bytes, offset, physical uint64) Result {
	return Result(C.shim_map(d.c, C.uint64_t(at), C.size_t(bytes), C.size_t(offset), C.uint64_t(physical)))
}

// Unmap undoes Map.
func (d Device) Unmap(at, bytes uint64) Result {
	return Result(C.shim_unmap(d.c, C.uint64_t(at), C.size_t(bytes)))
}

// SetAccess lets the device use mapped memory.
func (d Device) SetAccess(at, bytes uint64, readOnly bool) Result {
	return Result(C.shim_set_access(d.c, C.uint64_t(at), C.size_t(bytes), flag(readOnly)))
}
