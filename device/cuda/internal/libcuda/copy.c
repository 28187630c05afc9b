//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

// The driver's synchronous copies and fills may return before the device memory is
// written (copies from pageable memory, copies between device memory, any fill), and
// streams made here do not wait for the default stream. Waiting for the default stream
// makes the result ready for every stream.
static CUresult synchronized(CUresult result) {
    return result != CUDA_SUCCESS ? result : libcuda.cuStreamSynchronize(NULL);
}

int32_t libcuda_copy_to_device(libcuda_device device, uint64_t destination, const char *source, size_t bytes) {
    LIBCUDA_IN_CONTEXT(device, synchronized(libcuda.cuMemcpyHtoD_v2(destination, source, bytes)));
}

// A copy to host memory is complete when the driver returns.
int32_t libcuda_copy_to_host(libcuda_device device, char *destination, uint64_t source, size_t bytes) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemcpyDtoH_v2(destination, source, bytes));
}

int32_t libcuda_copy_on_device(libcuda_device device, uint64_t destination, uint64_t source, size_t bytes) {
    LIBCUDA_IN_CONTEXT(device, synchronized(libcuda.cuMemcpyDtoD_v2(destination, source, bytes)));
}

int32_t libcuda_copy_to_device_async(libcuda_device device, uint64_t destination, const char *source, size_t bytes, uintptr_t stream) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemcpyHtoDAsync_v2(destination, source, bytes, (CUstream)stream));
}

int32_t libcuda_copy_to_host_async(libcuda_device device, char *destination, uint64_t source, size_t bytes, uintptr_t stream) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemcpyDtoHAsync_v2(destination, source, bytes, (CUstream)stream));
}

int32_t libcuda_copy_on_device_async(libcuda_device device, uint64_t destination, uint64_t source, size_t bytes, uintptr_t stream) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemcpyDtoDAsync_v2(destination, source, bytes, (CUstream)stream));
}

static CUresult fill(uint64_t destination, uint32_t value, int32_t width, size_t count) {
    switch (width) {
    case 1:
        return libcuda.cuMemsetD8_v2(destination, (unsigned char)value, count);
    case 2:
        return libcuda.cuMemsetD16_v2(destination, (unsigned short)value, count);
    case 4:
        return libcuda.cuMemsetD32_v2(destination, value, count);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult fill_async(uint64_t destination, uint32_t value, int32_t width, size_t count, CUstream stream) {
    switch (width) {
    case 1:
        return libcuda.cuMemsetD8Async(destination, (unsigned char)value, count, stream);
    case 2:
        return libcuda.cuMemsetD16Async(destination, (unsigned short)value, count, stream);
    case 4:
        return libcuda.cuMemsetD32Async(destination, value, count, stream);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

int32_t libcuda_memset(libcuda_device device, uint64_t destination, uint32_t value, int32_t width, size_t count) {
    LIBCUDA_IN_CONTEXT(device, synchronized(fill(destination, value, width, count)));
}

int32_t libcuda_memset_async(libcuda_device device, uint64_t destination, uint32_t value, int32_t width, size_t count, uintptr_t stream) {
    LIBCUDA_IN_CONTEXT(device, fill_async(destination, value, width, count, (CUstream)stream));
}
