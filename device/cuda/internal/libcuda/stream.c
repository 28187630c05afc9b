//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

int32_t libcuda_stream_create(libcuda_device device, uintptr_t *stream) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuStreamCreate((CUstream *)stream, CU_STREAM_NON_BLOCKING));
}

int32_t libcuda_stream_destroy(libcuda_device device, uintptr_t stream) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuStreamDestroy_v2((CUstream)stream));
}

int32_t libcuda_stream_synchronize(libcuda_device device, uintptr_t stream) {
    LIBCUDA_RELAXED(device, libcuda.cuStreamSynchronize((CUstream)stream));
}

int32_t libcuda_stream_query(libcuda_device device, uintptr_t stream) {
    LIBCUDA_RELAXED(device, libcuda.cuStreamQuery((CUstream)stream));
}

int32_t libcuda_stream_wait_event(libcuda_device device, uintptr_t stream, uintptr_t event) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuStreamWaitEvent((CUstream)stream, (CUevent)event, 0));
}

int32_t libcuda_event_create(libcuda_device device, uintptr_t *event, int32_t timing) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuEventCreate((CUevent *)event, CU_EVENT_BLOCKING_SYNC | (timing ? 0 : CU_EVENT_DISABLE_TIMING)));
}

int32_t libcuda_event_destroy(libcuda_device device, uintptr_t event) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuEventDestroy_v2((CUevent)event));
}

int32_t libcuda_event_record(libcuda_device device, uintptr_t event, uintptr_t stream) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuEventRecord((CUevent)event, (CUstream)stream));
}

int32_t libcuda_event_query(libcuda_device device, uintptr_t event) {
    LIBCUDA_RELAXED(device, libcuda.cuEventQuery((CUevent)event));
}

int32_t libcuda_event_synchronize(libcuda_device device, uintptr_t event) {
    LIBCUDA_RELAXED(device, libcuda.cuEventSynchronize((CUevent)event));
}

int32_t libcuda_event_elapsed(libcuda_device device, float *milliseconds, uintptr_t start, uintptr_t end) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuEventElapsedTime(milliseconds, (CUevent)start, (CUevent)end));
}
