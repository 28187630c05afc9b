//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

int32_t libcuda_stream_begin_capture(libcuda_device device, uintptr_t stream) {
    LIBCUDA_NEEDS(cuStreamBeginCapture_v2);
    LIBCUDA_NEEDS(cuGraphInstantiateWithFlags); // or the graph could not be used
    LIBCUDA_IN_CONTEXT(device, libcuda.cuStreamBeginCapture_v2((CUstream)stream, CU_STREAM_CAPTURE_MODE_RELAXED));
}

int32_t libcuda_stream_end_capture(libcuda_device device, uintptr_t stream, uintptr_t *graph) {
    LIBCUDA_NEEDS(cuStreamEndCapture);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuStreamEndCapture((CUstream)stream, (CUgraph *)graph));
}

int32_t libcuda_graph_destroy(libcuda_device device, uintptr_t graph) {
    LIBCUDA_NEEDS(cuGraphDestroy);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuGraphDestroy((CUgraph)graph));
}

int32_t libcuda_graph_instantiate(libcuda_device device, uintptr_t *executable, uintptr_t graph) {
    LIBCUDA_NEEDS(cuGraphInstantiateWithFlags);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuGraphInstantiateWithFlags((CUgraphExec *)executable, (CUgraph)graph, 0));
}

int32_t libcuda_graph_launch(libcuda_device device, uintptr_t executable, uintptr_t stream) {
    LIBCUDA_NEEDS(cuGraphLaunch);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuGraphLaunch((CUgraphExec)executable, (CUstream)stream));
}

int32_t libcuda_graph_executable_destroy(libcuda_device device, uintptr_t executable) {
    LIBCUDA_NEEDS(cuGraphExecDestroy);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuGraphExecDestroy((CUgraphExec)executable));
}
