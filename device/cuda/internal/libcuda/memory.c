//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

int32_t libcuda_alloc(libcuda_device device, uint64_t *pointer, size_t bytes) {
    LIBCUDA_RELAXED(device, libcuda.cuMemAlloc_v2(pointer, bytes));
}

int32_t libcuda_free(libcuda_device device, uint64_t pointer) {
    LIBCUDA_RELAXED(device, libcuda.cuMemFree_v2(pointer));
}

// Portable: page-locked for every context, and so for every device.
int32_t libcuda_host_alloc(libcuda_device device, void **pointer, size_t bytes) {
    LIBCUDA_RELAXED(device, libcuda.cuMemHostAlloc(pointer, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
}

int32_t libcuda_host_free(libcuda_device device, char *pointer) {
    LIBCUDA_RELAXED(device, libcuda.cuMemFreeHost(pointer));
}

int32_t libcuda_host_register(libcuda_device device, char *pointer, size_t bytes) {
    LIBCUDA_RELAXED(device, libcuda.cuMemHostRegister_v2(pointer, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
}

int32_t libcuda_host_unregister(libcuda_device device, char *pointer) {
    LIBCUDA_RELAXED(device, libcuda.cuMemHostUnregister(pointer));
}

int32_t libcuda_address_range(libcuda_device device, uint64_t *base, size_t *bytes, uint64_t pointer) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemGetAddressRange_v2(base, bytes, pointer));
}

// The plural function returns zeros for memory that the driver does not know; the
// singular one returns an error.
int32_t libcuda_pointer_info(libcuda_device device, uint32_t *type, uint32_t *managed, int32_t *ordinal, uint64_t pointer) {
    int attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    };
    void *values[] = {type, managed, ordinal};
    LIBCUDA_IN_CONTEXT(device, libcuda.cuPointerGetAttributes(3, attributes, values, pointer));
}
