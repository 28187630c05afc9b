//go:build linux && cgo && (amd64 || arm64)

#include "context.h"

#include <string.h>

int32_t shim_address_reserve(shim_device device, uint64_t *pointer, size_t bytes, size_t alignment) {
    IN_CONTEXT(device, cuMemAddressReserve((CUdeviceptr *)pointer, bytes, alignment, 0, 0));
}

int32_t shim_address_free(shim_device device, uint64_t pointer, size_t bytes) {
    IN_CONTEXT(device, cuMemAddressFree(pointer, bytes));
}

// Memory that stays on the device. The padding is zeroed too, because drivers may read
// it.
static CUmemAllocationProp properties_of(shim_device device, int32_t shared) {
    CUmemAllocationProp properties;
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = shared ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device.handle;
    return properties;
}

static CUresult granularities(const CUmemAllocationProp *properties, size_t *minimum, size_t *recommended) {
    CUresult result = cuMemGetAllocationGranularity(minimum, properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS)
        return result;
    return cuMemGetAllocationGranularity(recommended, properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
}

int32_t shim_physical_granularity(shim_device device, size_t *minimum, size_t *recommended) {
    CUmemAllocationProp properties = properties_of(device, 0);
    IN_CONTEXT(device, granularities(&properties, minimum, recommended));
}

int32_t shim_physical_create(shim_device device, uint64_t *physical, size_t bytes, int32_t shared) {
    CUmemAllocationProp properties = properties_of(device, shared);
    IN_CONTEXT(device, cuMemCreate((CUmemGenericAllocationHandle *)physical, bytes, &properties, 0));
}

int32_t shim_physical_release(shim_device device, uint64_t physical) {
    IN_CONTEXT(device, cuMemRelease(physical));
}

int32_t shim_physical_export(shim_device device, int32_t *descriptor, uint64_t physical) {
    IN_CONTEXT(device, cuMemExportToShareableHandle(descriptor, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

// The driver takes the descriptor itself instead of a pointer.
int32_t shim_physical_import(shim_device device, uint64_t *physical, int32_t descriptor) {
    IN_CONTEXT(device, cuMemImportFromShareableHandle((CUmemGenericAllocationHandle *)physical, (void *)(uintptr_t)descriptor,
                                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

int32_t shim_map(shim_device device, uint64_t at, size_t bytes, size_t offset, uint64_t physical) {
    IN_CONTEXT(device, cuMemMap(at, bytes, offset, physical, 0));
}

int32_t shim_unmap(shim_device device, uint64_t at, size_t bytes) {
    IN_CONTEXT(device, cuMemUnmap(at, bytes));
}

int32_t shim_set_access(shim_device device, uint64_t at, size_t bytes, int32_t read_only) {
    CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device.handle},
        .flags = read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    IN_CONTEXT(device, cuMemSetAccess(at, bytes, &access, 1));
}
