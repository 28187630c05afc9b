//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

// Global: every stream of every device may use the memory.
int32_t libcuda_alloc_managed(libcuda_device device, uint64_t *pointer, size_t bytes) {
    LIBCUDA_NEEDS(cuMemAllocManaged);
    LIBCUDA_RELAXED(device, libcuda.cuMemAllocManaged(pointer, bytes, CU_MEM_ATTACH_GLOBAL));
}

int32_t libcuda_prefetch_async(libcuda_device device, uint64_t pointer, size_t bytes, int32_t to_host, uintptr_t stream) {
    LIBCUDA_NEEDS(cuMemPrefetchAsync);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemPrefetchAsync(pointer, bytes, to_host ? CU_DEVICE_CPU : device.handle, (CUstream)stream));
}
