//go:build linux && cgo && (amd64 || arm64)

#include "context.h"

int32_t shim_stream_begin_capture(shim_device device, uintptr_t stream) {
    IN_CONTEXT(device, cuStreamBeginCapture((CUstream)stream, CU_STREAM_CAPTURE_MODE_RELAXED));
}

int32_t shim_stream_end_capture(shim_device device, uintptr_t stream, uintptr_t *graph) {
    IN_CONTEXT(device, cuStreamEndCapture((CUstream)stream, (CUgraph *)graph));
}

int32_t shim_graph_destroy(shim_device device, uintptr_t graph) {
    IN_CONTEXT(device, cuGraphDestroy((CUgraph)graph));
}

int32_t shim_graph_instantiate(shim_device device, uintptr_t *executable, uintptr_t graph) {
    IN_CONTEXT(device, cuGraphInstantiateWithFlags((CUgraphExec *)executable, (CUgraph)graph, 0));
}

int32_t shim_graph_launch(shim_device device, uintptr_t executable, uintptr_t stream) {
    IN_CONTEXT(device, cuGraphLaunch((CUgraphExec)executable, (CUstream)stream));
}

int32_t shim_graph_executable_destroy(shim_device device, uintptr_t executable) {
    IN_CONTEXT(device, cuGraphExecDestroy((CUgraphExec)executable));
}
