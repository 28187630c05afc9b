//go:build linux && cgo && (amd64 || arm64)

#include "context.h"

#include <string.h>

int32_t shim_default_pool(uintptr_t *pool, int32_t handle) {
    return cuDeviceGetDefaultMemPool((CUmemoryPool *)pool, handle);
}

int32_t shim_alloc_async(shim_device device, uint64_t *pointer, size_t bytes, uintptr_t pool, uintptr_t stream) {
    IN_CONTEXT(device, cuMemAllocFromPoolAsync((CUdeviceptr *)pointer, bytes, (CUmemoryPool)pool, (CUstream)stream));
}

int32_t shim_free_async(shim_device device, uint64_t pointer, uintptr_t stream) {
    IN_CONTEXT(device, cuMemFreeAsync(pointer, (CUstream)stream));
}

// CUDA 12.2 assigned the first reserved word to the maximum of a pool.
enum { MAXIMUM_OFFSET = 24 };
_Static_assert(sizeof(CUmemPoolProps) == 88, "CUmemPoolProps");
_Static_assert(offsetof(CUmemPoolProps, win32SecurityAttributes) + sizeof(void *) == MAXIMUM_OFFSET, "CUmemPoolProps.maxSize");

int32_t shim_pool_create(shim_device device, uintptr_t *pool, size_t maximum) {
    CUmemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device.handle;
    memcpy((char *)&properties + MAXIMUM_OFFSET, &maximum, sizeof maximum);
    IN_CONTEXT(device, cuMemPoolCreate((CUmemoryPool *)pool, &properties));
}

int32_t shim_pool_destroy(shim_device device, uintptr_t pool) {
    IN_CONTEXT(device, cuMemPoolDestroy((CUmemoryPool)pool));
}

int32_t shim_pool_trim(shim_device device, uintptr_t pool, size_t keep) {
    IN_CONTEXT(device, cuMemPoolTrimTo((CUmemoryPool)pool, keep));
}

// The three attributes that permit reuse are an int, all others have 64 bits.
static CUresult get_attribute(uintptr_t pool, int32_t attribute, uint64_t *value) {
    if (attribute > CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        return cuMemPoolGetAttribute((CUmemoryPool)pool, attribute, value);
    int flag = 0;
    CUresult result = cuMemPoolGetAttribute((CUmemoryPool)pool, attribute, &flag);
    *value = flag != 0;
    return result;
}

static CUresult set_attribute(uintptr_t pool, int32_t attribute, uint64_t value) {
    if (attribute > CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        return cuMemPoolSetAttribute((CUmemoryPool)pool, attribute, &value);
    int flag = value != 0;
    return cuMemPoolSetAttribute((CUmemoryPool)pool, attribute, &flag);
}

int32_t shim_pool_attribute(shim_device device, uintptr_t pool, int32_t attribute, uint64_t *value) {
    IN_CONTEXT(device, get_attribute(pool, attribute, value));
}

int32_t shim_pool_set_attribute(shim_device device, uintptr_t pool, int32_t attribute, uint64_t value) {
    IN_CONTEXT(device, set_attribute(pool, attribute, value));
}

// Lets the device of a handle read and write the memory of another device's pool: peer
// access between contexts does not include pools.
int32_t shim_pool_allow(shim_device device, uintptr_t pool, int32_t handle) {
    CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = handle},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    IN_CONTEXT(device, cuMemPoolSetAccess((CUmemoryPool)pool, &access, 1));
}
