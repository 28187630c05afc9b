package host

import "github.com/gpuframe/gpuframe/device/backend"

// noGraphs implements every method of backend.Graphs. The work of the host is Go
// functions: a graph could not distinguish them and would not make enqueueing cheaper.
func (d *device) noGraphs(operation string) error {
	if err := d.check(operation); err != nil {
		return err
	}
	return failure(operation, backend.ErrNotSupported, "graphs need a CUDA device")
}

func (d *device) StreamBeginCapture(backend.Stream) error {
	return d.noGraphs("StreamBeginCapture")
}

func (d *device) StreamEndCapture(backend.Stream) (backend.Graph, error) {
	return 0, d.noGraphs("StreamEndCapture")
}

func (d *device) GraphDestroy(backend.Graph) error {
	return d.noGraphs("GraphDestroy")
}

func (d *device) GraphInstantiate(backend.Graph) (backend.ExecutableGraph, error) {
	return 0, d.noGraphs("GraphInstantiate")
}

func (d *device) GraphLaunch(backend.ExecutableGraph, backend.Stream) error {
	return d.noGraphs("GraphLaunch")
}

func (d *device) GraphExecutableDestroy(backend.ExecutableGraph) error {
	return d.noGraphs("GraphExecutableDestroy")
}
