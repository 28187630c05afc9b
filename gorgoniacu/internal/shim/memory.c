//go:build linux && cgo && (amd64 || arm64)

#include "context.h"

// Portable: page-locked for every context, and so for every device.
int32_t shim_host_alloc(shim_device device, void **pointer, size_t bytes) {
    IN_CONTEXT(device, cuMemHostAlloc(pointer, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
}

int32_t shim_host_free(shim_device device, char *pointer) {
    IN_CONTEXT(device, cuMemFreeHost(pointer));
}

int32_t shim_host_register(shim_device device, char *pointer, size_t bytes) {
    IN_CONTEXT(device, cuMemHostRegister(pointer, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
}

int32_t shim_host_unregister(shim_device device, char *pointer) {
    IN_CONTEXT(device, cuMemHostUnregister(pointer));
}

// The plural function returns zeros for memory that the driver does not know; the
// singular one returns an error.
int32_t shim_pointer_info(shim_device device, uint32_t *type, uint32_t *managed, int32_t *ordinal, uint64_t pointer) {
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    };
    void *values[] = {type, managed, ordinal};
    IN_CONTEXT(device, cuPointerGetAttributes(3, attributes, values, pointer));
}

int32_t shim_prefetch_async(shim_device device, uint64_t pointer, size_t bytes, int32_t to_host, uintptr_t stream) {
    IN_CONTEXT(device, cuMemPrefetchAsync(pointer, bytes, to_host ? CU_DEVICE_CPU : device.handle, (CUstream)stream));
}
