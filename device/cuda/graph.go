//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

func (d *device) StreamBeginCapture(stream backend.Stream) error {
	const operation = "cuStreamBeginCapture"
	if err := d.guard.OwnStream(operation, stream, "captured"); err != nil {
		return err
	}
	result := d.raw.StreamBeginCapture(uintptr(stream))
	if result == libcuda.TooOld { // the driver lacks a later function
		return failed(result, "cuGraphInstantiateWithFlags", "")
	}
	return check(result, operation)
}

func (d *device) StreamEndCapture(stream backend.Stream) (backend.Graph, error) {
	const operation = "cuStreamEndCapture"
	if err := d.guard.OwnStream(operation, stream, "captured"); err != nil {
		return 0, err
	}
	graph, result := d.raw.StreamEndCapture(uintptr(stream))
	return backend.Graph(graph), check(result, operation)
}

func (d *device) GraphDestroy(graph backend.Graph) error {
	if err := d.guard.Handle("cuGraphDestroy", "graph", uintptr(graph)); err != nil {
		return err
	}
	return check(d.raw.GraphDestroy(uintptr(graph)), "cuGraphDestroy")
}

func (d *device) GraphInstantiate(graph backend.Graph) (backend.ExecutableGraph, error) {
	const operation = "cuGraphInstantiateWithFlags"
	if err := d.guard.Handle(operation, "graph", uintptr(graph)); err != nil {
		return 0, err
	}
	executable, result := d.raw.GraphInstantiate(uintptr(graph))
	return backend.ExecutableGraph(executable), check(result, operation)
}

func (d *device) GraphLaunch(graph backend.ExecutableGraph, stream backend.Stream) error {
	if err := d.guard.Handle("cuGraphLaunch", "graph", uintptr(graph)); err != nil {
		return err
	}
	return check(d.raw.GraphLaunch(uintptr(graph), uintptr(stream)), "cuGraphLaunch")
}

func (d *device) GraphExecutableDestroy(graph backend.ExecutableGraph) error {
	if err := d.guard.Handle("cuGraphExecDestroy", "graph", uintptr(graph)); err != nil {
		return err
	}
	return check(d.raw.GraphExecutableDestroy(uintptr(graph)), "cuGraphExecDestroy")
}
