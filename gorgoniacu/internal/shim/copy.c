//go:build linux && cgo && (amd64 || arm64)

#include "context.h"

// The driver's copy from pageable memory may return before the device memory is
// written, and streams made here do not wait for the default stream. Waiting for the
// default stream makes the result ready for every stream.
static CUresult synchronized(CUresult result) {
    return result != CUDA_SUCCESS ? result : cuStreamSynchronize(NULL);
}

int32_t shim_copy_to_device(shim_device device, uint64_t destination, const char *source, size_t bytes) {
    IN_CONTEXT(device, synchronized(cuMemcpyHtoD(destination, source, bytes)));
}

// A copy to host memory is complete when the driver returns.
int32_t shim_copy_to_host(shim_device device, char *destination, uint64_t source, size_t bytes) {
    IN_CONTEXT(device, cuMemcpyDtoH(destination, source, bytes));
}

int32_t shim_copy_to_device_async(shim_device device, uint64_t destination, const char *source, size_t bytes, uintptr_t stream) {
    IN_CONTEXT(device, cuMemcpyHtoDAsync(destination, source, bytes, (CUstream)stream));
}

int32_t shim_copy_to_host_async(shim_device device, char *destination, uint64_t source, size_t bytes, uintptr_t stream) {
    IN_CONTEXT(device, cuMemcpyDtoHAsync(destination, source, bytes, (CUstream)stream));
}

int32_t shim_copy_on_device_async(shim_device device, uint64_t destination, uint64_t source, size_t bytes, uintptr_t stream) {
    IN_CONTEXT(device, cuMemcpyDtoDAsync(destination, source, bytes, (CUstream)stream));
}

int32_t shim_copy_from_peer_async(shim_device device, uint64_t destination, uint64_t source, uintptr_t peer, size_t bytes, uintptr_t stream) {
    IN_CONTEXT(device, cuMemcpyPeerAsync(destination, (CUcontext)device.context, source, (CUcontext)peer, bytes, (CUstream)stream));
}

static CUresult fill_async(uint64_t destination, uint32_t value, int32_t width, size_t count, CUstream stream) {
    switch (width) {
    case 1:
        return cuMemsetD8Async(destination, (unsigned char)value, count, stream);
    case 2:
        return cuMemsetD16Async(destination, (unsigned short)value, count, stream);
    case 4:
        return cuMemsetD32Async(destination, value, count, stream);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

int32_t shim_memset_async(shim_device device, uint64_t destination, uint32_t value, int32_t width, size_t count, uintptr_t stream) {
    IN_CONTEXT(device, fill_async(destination, value, width, count, (CUstream)stream));
}
