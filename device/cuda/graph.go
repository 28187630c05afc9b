//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

func (d *device) StreamBeginCapture(stream backend.Stream) error {
	const operation = "cuStreamBeginCapture"
	if err := d.capturable(operation, stream); err != nil {
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
	if err := d.capturable(operation, stream); err != nil {
		return 0, err
	}
	graph, result := d.raw.StreamEndCapture(uintptr(stream))
	return backend.Graph(graph), check(result, operation)
}

// capturable checks that the device is open and that the stream is not the default
// stream.
func (d *device) capturable(operation string, stream backend.Stream) error {
	if err := d.open(operation); err != nil {
		return err
	}
	if stream == 0 {
		return refuse(operation, "the default stream cannot be captured")
	}
	return nil
}

func (d *device) GraphDestroy(graph backend.Graph) error {
	if err := d.graph("cuGraphDestroy", uintptr(graph)); err != nil {
		return err
	}
	return check(d.raw.GraphDestroy(uintptr(graph)), "cuGraphDestroy")
}

func (d *device) GraphInstantiate(graph backend.Graph) (backend.ExecutableGraph, error) {
	const operation = "cuGraphInstantiateWithFlags"
	if err := d.graph(operation, uintptr(graph)); err != nil {
		return 0, err
	}
	executable, result := d.raw.GraphInstantiate(uintptr(graph))
	return backend.ExecutableGraph(executable), check(result, operation)
}

func (d *device) GraphLaunch(graph backend.ExecutableGraph, stream backend.Stream) error {
	if err := d.graph("cuGraphLaunch", uintptr(graph)); err != nil {
		return err
	}
	return check(d.raw.GraphLaunch(uintptr(graph), uintptr(stream)), "cuGraphLaunch")
}

func (d *device) GraphExecutableDestroy(graph backend.ExecutableGraph) error {
	if err := d.graph("cuGraphExecDestroy", uintptr(graph)); err != nil {
		return err
	}
	return check(d.raw.GraphExecutableDestroy(uintptr(graph)), "cuGraphExecDestroy")
}

// graph checks that the device is open and the graph is not zero.
func (d *device) graph(operation string, graph uintptr) error {
	if err := d.open(operation); err != nil {
		return err
	}
	if graph == 0 {
		return refuse(operation, "the graph is zero")
	}
	return nil
}
