//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo nocallback libcuda_stream_begin_capture
#cgo noescape libcuda_stream_end_capture
#cgo nocallback libcuda_stream_end_capture
#cgo nocallback libcuda_graph_destroy
#cgo noescape libcuda_graph_instantiate
#cgo nocallback libcuda_graph_instantiate
#cgo nocallback libcuda_graph_launch
#cgo nocallback libcuda_graph_executable_destroy
*/
import "C"

// StreamBeginCapture begins a relaxed capture of a stream.
func (d Device) StreamBeginCapture(stream uintptr) Result {
	return Result(C.libcuda_stream_begin_capture(d.c, C.uintptr_t(stream)))
}

// StreamEndCapture ends it and returns the CUgraph.
func (d Device) StreamEndCapture(stream uintptr) (uintptr, Result) {
	var graph C.uintptr_t
	result := C.libcuda_stream_end_capture(d.c, C.uintptr_t(stream), &graph)
	return uintptr(graph), Result(result)
}

// GraphDestroy destroys a CUgraph.
func (d Device) GraphDestroy(graph uintptr) Result {
	return Result(C.libcuda_graph_destroy(d.c, C.uintptr_t(graph)))
}

// GraphInstantiate makes a CUgraphExec of a CUgraph.
func (d Device) GraphInstantiate(graph uintptr) (uintptr, Result) {
	var executable C.uintptr_t
	result := C.libcuda_graph_instantiate(d.c, &executable, C.uintptr_t(graph))
	return uintptr(executable), Result(result)
}

// GraphLaunch enqueues a CUgraphExec.
func (d Device) GraphLaunch(executable, stream uintptr) Result {
	return Result(C.libcuda_graph_launch(d.c, C.uintptr_t(executable), C.uintptr_t(stream)))
}

// GraphExecutableDestroy destroys a CUgraphExec.
func (d Device) GraphExecutableDestroy(executable uintptr) Result {
	return Result(C.libcuda_graph_executable_destroy(d.c, C.uintptr_t(executable)))
}
