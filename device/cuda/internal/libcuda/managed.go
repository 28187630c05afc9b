//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_alloc_managed
#cgo nocallback libcuda_alloc_managed
#cgo nocallback libcuda_prefetch_async
*/
import "C"

// AllocManaged allocates managed memory.
func (d Device) AllocManaged(bytes uint64) (uint64, Result) {
	var pointer C.uint64_t
	result := C.libcuda_alloc_managed(d.c, &pointer, C.size_t(bytes))
	return uint64(pointer), Result(result)
}

// PrefetchAsync enqueues a move of managed memory to the device or to the host.
func (d Device) PrefetchAsync(pointer, bytes uint64, toHost bool, stream uintptr) Result {
	var flag C.int32_t
	if toHost {
		flag = 1
	}
	return Result(C.libcuda_prefetch_async(d.c, C.uint64_t(pointer), C.size_t(bytes), flag, C.uintptr_t(stream)))
}
