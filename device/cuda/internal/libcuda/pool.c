//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

#include <string.h>

int32_t libcuda_default_pool(uintptr_t *pool, int32_t handle) {
    LIBCUDA_NEEDS(cuDeviceGetDefaultMemPool);
    return libcuda.cuDeviceGetDefaultMemPool((CUmemoryPool *)pool, handle);
}

int32_t libcuda_alloc_async(libcuda_device device, uint64_t *pointer, size_t bytes, uintptr_t pool, uintptr_t stream) {
    LIBCUDA_NEEDS(cuMemAllocFromPoolAsync);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemAllocFromPoolAsync(pointer, bytes, (CUmemoryPool)pool, (CUstream)stream));
}

int32_t libcuda_free_async(libcuda_device device, uint64_t pointer, uintptr_t stream) {
    LIBCUDA_NEEDS(cuMemFreeAsync);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemFreeAsync(pointer, (CUstream)stream));
}

int32_t libcuda_pool_create(libcuda_device device, uintptr_t *pool, size_t maximum) {
    LIBCUDA_NEEDS(cuMemPoolCreate);
    CUmemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device.handle;
    properties.maxSize = maximum;
    LIBCUDA_RELAXED(device, libcuda.cuMemPoolCreate((CUmemoryPool *)pool, &properties));
}

int32_t libcuda_pool_destroy(libcuda_device device, uintptr_t pool) {
    LIBCUDA_NEEDS(cuMemPoolDestroy);
    LIBCUDA_RELAXED(device, libcuda.cuMemPoolDestroy((CUmemoryPool)pool));
}

int32_t libcuda_pool_trim(libcuda_device device, uintptr_t pool, size_t keep) {
    LIBCUDA_NEEDS(cuMemPoolTrimTo);
    LIBCUDA_RELAXED(device, libcuda.cuMemPoolTrimTo((CUmemoryPool)pool, keep));
}

// The three attributes that permit reuse are an int, all others have 64 bits.
static CUresult get_attribute(uintptr_t pool, int32_t attribute, uint64_t *value) {
    if (attribute > CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        return libcuda.cuMemPoolGetAttribute((CUmemoryPool)pool, attribute, value);
    int flag = 0;
    CUresult result = libcuda.cuMemPoolGetAttribute((CUmemoryPool)pool, attribute, &flag);
    *value = flag != 0;
    return result;
}

static CUresult set_attribute(uintptr_t pool, int32_t attribute, uint64_t value) {
    if (attribute > CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        return libcuda.cuMemPoolSetAttribute((CUmemoryPool)pool, attribute, &value);
    int flag = value != 0;
    return libcuda.cuMemPoolSetAttribute((CUmemoryPool)pool, attribute, &flag);
}

int32_t libcuda_pool_attribute(libcuda_device device, uintptr_t pool, int32_t attribute, uint64_t *value) {
    LIBCUDA_NEEDS(cuMemPoolGetAttribute);
    LIBCUDA_IN_CONTEXT(device, get_attribute(pool, attribute, value));
}

int32_t libcuda_pool_set_attribute(libcuda_device device, uintptr_t pool, int32_t attribute, uint64_t value) {
    LIBCUDA_NEEDS(cuMemPoolSetAttribute);
    LIBCUDA_IN_CONTEXT(device, set_attribute(pool, attribute, value));
}

// Lets the device of a handle read and write the memory of another device's pool: peer
// access between contexts does not include pools.
int32_t libcuda_pool_allow(libcuda_device device, uintptr_t pool, int32_t handle) {
    LIBCUDA_NEEDS(cuMemPoolSetAccess);
    CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = handle},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemPoolSetAccess((CUmemoryPool)pool, &access, 1));
}
