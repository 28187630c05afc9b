//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

#include <string.h>

int32_t libcuda_address_reserve(libcuda_device device, uint64_t *pointer, size_t bytes, size_t alignment) {
    LIBCUDA_NEEDS(cuMemAddressReserve);
    LIBCUDA_RELAXED(device, libcuda.cuMemAddressReserve(pointer, bytes, alignment, 0, 0));
}

int32_t libcuda_address_free(libcuda_device device, uint64_t pointer, size_t bytes) {
    LIBCUDA_NEEDS(cuMemAddressFree);
    LIBCUDA_RELAXED(device, libcuda.cuMemAddressFree(pointer, bytes));
}

// Memory that stays on the device and that no other process can open. The padding is
// zeroed too, because drivers may read it.
static CUmemAllocationProp properties_of(libcuda_device device) {
    CUmemAllocationProp properties;
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device.handle;
    return properties;
}

static CUresult granularities(const CUmemAllocationProp *properties, size_t *minimum, size_t *recommended) {
    CUresult result = libcuda.cuMemGetAllocationGranularity(minimum, properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS)
        return result;
    return libcuda.cuMemGetAllocationGranularity(recommended, properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
}

int32_t libcuda_physical_granularity(libcuda_device device, size_t *minimum, size_t *recommended) {
    LIBCUDA_NEEDS(cuMemGetAllocationGranularity);
    CUmemAllocationProp properties = properties_of(device);
    LIBCUDA_IN_CONTEXT(device, granularities(&properties, minimum, recommended));
}

int32_t libcuda_physical_create(libcuda_device device, uint64_t *physical, size_t bytes) {
    LIBCUDA_NEEDS(cuMemCreate);
    CUmemAllocationProp properties = properties_of(device);
    LIBCUDA_RELAXED(device, libcuda.cuMemCreate(physical, bytes, &properties, 0));
}

int32_t libcuda_physical_release(libcuda_device device, uint64_t physical) {
    LIBCUDA_NEEDS(cuMemRelease);
    LIBCUDA_RELAXED(device, libcuda.cuMemRelease(physical));
}

int32_t libcuda_map(libcuda_device device, uint64_t at, size_t bytes, size_t offset, uint64_t physical) {
    LIBCUDA_NEEDS(cuMemMap);
    LIBCUDA_RELAXED(device, libcuda.cuMemMap(at, bytes, offset, physical, 0));
}

int32_t libcuda_unmap(libcuda_device device, uint64_t at, size_t bytes) {
    LIBCUDA_NEEDS(cuMemUnmap);
    LIBCUDA_RELAXED(device, libcuda.cuMemUnmap(at, bytes));
}

int32_t libcuda_set_access(libcuda_device device, uint64_t at, size_t bytes) {
    LIBCUDA_NEEDS(cuMemSetAccess);
    CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device.handle},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    LIBCUDA_RELAXED(device, libcuda.cuMemSetAccess(at, bytes, &access, 1));
}
