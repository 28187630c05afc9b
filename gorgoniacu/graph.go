//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
)

func (d *openDevice) StreamBeginCapture(stream backend.Stream) error {
	const operation = "cuStreamBeginCapture"
	if err := d.capturable(operation, stream); err != nil {
		return err
	}
	return checkResult(d.shim.StreamBeginCapture(uintptr(stream)), operation)
}

func (d *openDevice) StreamEndCapture(stream backend.Stream) (backend.Graph, error) {
	const operation = "cuStreamEndCapture"
	if err := d.capturable(operation, stream); err != nil {
		return 0, err
	}
	graph, result := d.shim.StreamEndCapture(uintptr(stream))
	return backend.Graph(graph), checkResult(result, operation)
}

// capturable checks that the device is open, that the stream is not the default stream,
// and that the driver has every function that a capture needs, because the binary is
// linked with them.
func (d *openDevice) capturable(operation string, stream backend.Stream) error {
	if err := d.open(operation); err != nil {
		return err
	}
	const since = 11040
	if d.info.DriverVersion < since {
		return fmt.Errorf("%w: it needs a driver for CUDA 11.4 or newer", failed(cuda.CodeNeedsNewerDriver, operation, ""))
	}
	if stream == 0 {
		return refuse(operation, "the default stream cannot be captured")
	}
	return nil
}

func (d *openDevice) GraphDestroy(graph backend.Graph) error {
	if err := d.graph("cuGraphDestroy", uintptr(graph)); err != nil {
		return err
	}
	return checkResult(d.shim.GraphDestroy(uintptr(graph)), "cuGraphDestroy")
}

func (d *openDevice) GraphInstantiate(graph backend.Graph) (backend.ExecutableGraph, error) {
	const operation = "cuGraphInstantiateWithFlags"
	if err := d.graph(operation, uintptr(graph)); err != nil {
		return 0, err
	}
	executable, result := d.shim.GraphInstantiate(uintptr(graph))
	return backend.ExecutableGraph(executable), checkResult(result, operation)
}

func (d *openDevice) GraphLaunch(graph backend.ExecutableGraph, stream backend.Stream) error {
	if err := d.graph("cuGraphLaunch", uintptr(graph)); err != nil {
		return err
	}
	return checkResult(d.shim.GraphLaunch(uintptr(graph), uintptr(stream)), "cuGraphLaunch")
}

func (d *openDevice) GraphExecutableDestroy(graph backend.ExecutableGraph) error {
	if err := d.graph("cuGraphExecDestroy", uintptr(graph)); err != nil {
		return err
	}
	return checkResult(d.shim.GraphExecutableDestroy(uintptr(graph)), "cuGraphExecDestroy")
}

// graph checks that the device is open and the graph is not zero.
func (d *openDevice) graph(operation string, graph uintptr) error {
	if err := d.open(operation); err != nil {
		return err
	}
	if graph < leastPointer {
		return refuse(operation, "the graph is %d", graph)
	}
	return nil
}
