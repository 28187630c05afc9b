//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
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

func (d *openDevice) GraphDestroy(graph backend.Graph) error {
	if err := d.guard.Handle("cuGraphDestroy", "graph", uintptr(graph)); err != nil {
		return err
	}
	return checkResult(d.shim.GraphDestroy(uintptr(graph)), "cuGraphDestroy")
}

func (d *openDevice) GraphInstantiate(graph backend.Graph) (backend.ExecutableGraph, error) {
	const operation = "cuGraphInstantiateWithFlags"
	if err := d.guard.Handle(operation, "graph", uintptr(graph)); err != nil {
		return 0, err
	}
	executable, result := d.shim.GraphInstantiate(uintptr(graph))
	return backend.ExecutableGraph(executable), checkResult(result, operation)
}

func (d *openDevice) GraphLaunch(graph backend.ExecutableGraph, stream backend.Stream) error {
	if err := d.guard.Handle("cuGraphLaunch", "graph", uintptr(graph)); err != nil {
		return err
	}
	return checkResult(d.shim.GraphLaunch(uintptr(graph), uintptr(stream)), "cuGraphLaunch")
}

func (d *openDevice) GraphExecutableDestroy(graph backend.ExecutableGraph) error {
	if err := d.guard.Handle("cuGraphExecDestroy", "graph", uintptr(graph)); err != nil {
		return err
	}
	return checkResult(d.shim.GraphExecutableDestroy(uintptr(graph)), "cuGraphExecDestroy")
}

// capturable checks that the stream is not the default stream, and that the driver has
// every function that a capture needs, because the binary is linked with them.
func (d *openDevice) capturable(operation string, stream backend.Stream) error {
	if err := d.guard.OwnStream(operation, stream, "captured"); err != nil {
		return err
	}
	const since = 11040
	if d.guard.Info.DriverVersion < since {
		return refused(operation, int32(cuda.CodeNeedsNewerDriver), drivercall.Needs(since))
	}
	return nil
}
