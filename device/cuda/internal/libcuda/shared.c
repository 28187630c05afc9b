//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

#include <string.h>

int32_t libcuda_physical_create_shared(libcuda_device device, uint64_t *physical, size_t bytes) {
    LIBCUDA_NEEDS(cuMemCreate);
    CUmemAllocationProp properties;
    memset(&properties, 0, sizeof properties); // including the padding, as for other memory
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device.handle;
    LIBCUDA_RELAXED(device, libcuda.cuMemCreate(physical, bytes, &properties, 0));
}

int32_t libcuda_physical_export(libcuda_device device, int32_t *descriptor, uint64_t physical) {
    LIBCUDA_NEEDS(cuMemExportToShareableHandle);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemExportToShareableHandle(descriptor, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

// The driver takes the descriptor itself instead of a pointer.
int32_t libcuda_physical_import(libcuda_device device, uint64_t *physical, int32_t descriptor) {
    LIBCUDA_NEEDS(cuMemImportFromShareableHandle);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemImportFromShareableHandle(physical, (void *)(uintptr_t)descriptor,
                                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

int32_t libcuda_set_access_read_only(libcuda_device device, uint64_t at, size_t bytes) {
    LIBCUDA_NEEDS(cuMemSetAccess);
    CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device.handle},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READ,
    };
    LIBCUDA_RELAXED(device, libcuda.cuMemSetAccess(at, bytes, &access, 1));
}
