//go:build linux && cgo && (amd64 || arm64)

#include "context.h"

int32_t shim_stream_destroy(shim_device device, uintptr_t stream) {
    IN_CONTEXT(device, cuStreamDestroy((CUstream)stream));
}

int32_t shim_stream_synchronize(shim_device device, uintptr_t stream) {
    IN_CONTEXT(device, cuStreamSynchronize((CUstream)stream));
}

int32_t shim_stream_query(shim_device device, uintptr_t stream) {
    IN_CONTEXT(device, cuStreamQuery((CUstream)stream));
}

int32_t shim_stream_capturing(shim_device device, uintptr_t stream, int32_t *status) {
    IN_CONTEXT(device, cuStreamIsCapturing((CUstream)stream, (CUstreamCaptureStatus *)status));
}

int32_t shim_stream_wait_event(shim_device device, uintptr_t stream, uintptr_t event) {
    IN_CONTEXT(device, cuStreamWaitEvent((CUstream)stream, (CUevent)event, 0));
}

int32_t shim_event_record(shim_device device, uintptr_t event, uintptr_t stream) {
    IN_CONTEXT(device, cuEventRecord((CUevent)event, (CUstream)stream));
}
