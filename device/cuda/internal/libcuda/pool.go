//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_default_pool
#cgo nocallback libcuda_default_pool
#cgo noescape libcuda_alloc_async
#cgo nocallback libcuda_alloc_async
#cgo nocallback libcuda_free_async
#cgo noescape libcuda_pool_create
#cgo nocallback libcuda_pool_create
#cgo nocallback libcuda_pool_destroy
#cgo nocallback libcuda_pool_trim
#cgo noescape libcuda_pool_attribute
#cgo nocallback libcuda_pool_attribute
#cgo nocallback libcuda_pool_set_attribute
#cgo nocallback libcuda_pool_allow
*/
import "C"

// DefaultPool returns the device's default memory pool.
func (h Handle) DefaultPool() (uintptr, Result) {
	var pool C.uintptr_t
	result := C.libcuda_default_pool(&pool, C.int32_t(h))
	return uintptr(pool), Result(result)
}

// AllocAsync allocates from a pool in the order of a stream.
func (d Device) AllocAsync(bytes uint64, pool, stream uintptr) (uint64, Result) {
	var pointer C.uint64_t
	result := C.libcuda_alloc_async(d.c, &pointer, C.size_t(bytes), C.uintptr_t(pool), C.uintptr_t(stream))
	return uint64(pointer), Result(result)
}

// FreeAsync frees pool memory in the order of a stream.
func (d Device) FreeAsync(pointer uint64, stream uintptr) Result {
	return Result(C.libcuda_free_async(d.c, C.uint64_t(pointer), C.uintptr_t(stream)))
}

// PoolCreate makes a pool on the device. A maximum of zero sets no limit.
func (d Device) PoolCreate(maximum uint64) (uintptr, Result) {
	var pool C.uintptr_t
	result := C.libcuda_pool_create(d.c, &pool, C.size_t(maximum))
	return uintptr(pool), Result(result)
}

// PoolDestroy destroys a pool.
func (d Device) PoolDestroy(pool uintptr) Result {
	return Result(C.libcuda_pool_destroy(d.c, C.uintptr_t(pool)))
}

// PoolTrim frees unused memory until keep bytes are left.
func (d Device) PoolTrim(pool uintptr, keep uint64) Result {
	return Result(C.libcuda_pool_trim(d.c, C.uintptr_t(pool), C.size_t(keep)))
}

// PoolAttribute returns a CUmemPool_attribute.
func (d Device) PoolAttribute(pool uintptr, attribute int32) (uint64, Result) {
	var value C.uint64_t
	result := C.libcuda_pool_attribute(d.c, C.uintptr_t(pool), C.int32_t(attribute), &value)
	return uint64(value), Result(result)
}

// PoolSetAttribute sets a CUmemPool_attribute.
func (d Device) PoolSetAttribute(pool uintptr, attribute int32, value uint64) Result {
	return Result(C.libcuda_pool_set_attribute(d.c, C.uintptr_t(pool), C.int32_t(attribute), C.uint64_t(value)))
}

// PoolAllow lets the device of a handle read and write a pool of another's.
func (d Device) PoolAllow(pool uintptr, handle Handle) Result {
	return Result(C.libcuda_pool_allow(d.c, C.uintptr_t(pool), C.int32_t(handle)))
}
