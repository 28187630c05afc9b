//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

int32_t libcuda_event_record_all(libcuda_device device, uintptr_t event) {
    LIBCUDA_NEEDS(cuCtxRecordEvent);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuCtxRecordEvent((CUcontext)device.context, (CUevent)event));
}

int32_t libcuda_stream_identity(libcuda_device device, uintptr_t stream, uint64_t *identity) {
    LIBCUDA_NEEDS(cuStreamGetId);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuStreamGetId((CUstream)stream, (unsigned long long *)identity));
}

int32_t libcuda_stream_capturing(libcuda_device device, uintptr_t stream, int32_t *status) {
    LIBCUDA_NEEDS(cuStreamIsCapturing);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuStreamIsCapturing((CUstream)stream, status));
}
