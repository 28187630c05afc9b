//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_physical_create_shared
#cgo nocallback libcuda_physical_create_shared
#cgo noescape libcuda_physical_export
#cgo nocallback libcuda_physical_export
#cgo noescape libcuda_physical_import
#cgo nocallback libcuda_physical_import
#cgo nocallback libcuda_set_access_read_only
*/
import "C"

// PhysicalCreateShared creates device memory without an address that can be exported.
func (d Device) PhysicalCreateShared(bytes uint64) (uint64, Result) {
	var physical C.uint64_t
	result := C.libcuda_physical_create_shared(d.c, &physical, C.size_t(bytes))
	return uint64(physical), Result(result)
}

// PhysicalExport makes a file descriptor for such memory.
func (d Device) PhysicalExport(physical uint64) (int, Result) {
	var descriptor C.int32_t
	result := C.libcuda_physical_export(d.c, &descriptor, C.uint64_t(physical))
	return int(descriptor), Result(result)
}

// PhysicalImport makes a handle for the memory behind a file descriptor.
func (d Device) PhysicalImport(descriptor int) (uint64, Result) {
	var physical C.uint64_t
	result := C.libcuda_physical_import(d.c, &physical, C.int32_t(descriptor))
	return uint64(physical), Result(result)
}

// SetAccessReadOnly lets the device read mapped memory.
func (d Device) SetAccessReadOnly(at, bytes uint64) Result {
	return Result(C.libcuda_set_access_read_only(d.c, C.uint64_t(at), C.size_t(bytes)))
}
