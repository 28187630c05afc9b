package faulttest

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// The methods of backend.Device that enqueue and order work.

// CopyToDevice implements backend.Copier.
func (d *Driver) CopyToDevice(to backend.Pointer, from unsafe.Pointer, bytes uint64) error {
	return d.through("CopyToDevice", func() error { return d.Device.CopyToDevice(to, from, bytes) })
}

// CopyToHost implements backend.Copier.
func (d *Driver) CopyToHost(to unsafe.Pointer, from backend.Pointer, bytes uint64) error {
	return d.through("CopyToHost", func() error { return d.Device.CopyToHost(to, from, bytes) })
}

// CopyOnDevice implements backend.Copier.
func (d *Driver) CopyOnDevice(to, from backend.Pointer, bytes uint64) error {
	return d.through("CopyOnDevice", func() error { return d.Device.CopyOnDevice(to, from, bytes) })
}

// CopyToDeviceAsync implements backend.Copier.
func (d *Driver) CopyToDeviceAsync(to backend.Pointer, from unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	return d.through("CopyToDeviceAsync", func() error { return d.Device.CopyToDeviceAsync(to, from, bytes, stream) })
}

// CopyToHostAsync implements backend.Copier.
func (d *Driver) CopyToHostAsync(to unsafe.Pointer, from backend.Pointer, bytes uint64, stream backend.Stream) error {
	return d.through("CopyToHostAsync", func() error { return d.Device.CopyToHostAsync(to, from, bytes, stream) })
}

// CopyOnDeviceAsync implements backend.Copier.
func (d *Driver) CopyOnDeviceAsync(to, from backend.Pointer, bytes uint64, stream backend.Stream) error {
	return d.through("CopyOnDeviceAsync", func() error { return d.Device.CopyOnDeviceAsync(to, from, bytes, stream) })
}

// Memset implements backend.Copier.
func (d *Driver) Memset(to backend.Pointer, value uint32, width int, count uint64) error {
	return d.through("Memset", func() error { return d.Device.Memset(to, value, width, count) })
}

// MemsetAsync implements backend.Copier.
func (d *Driver) MemsetAsync(to backend.Pointer, value uint32, width int, count uint64, stream backend.Stream) error {
	return d.through("MemsetAsync", func() error { return d.Device.MemsetAsync(to, value, width, count, stream) })
}

// StreamCreate implements backend.Streams.
func (d *Driver) StreamCreate() (backend.Stream, error) {
	return valued(d, "StreamCreate", d.Device.StreamCreate)
}

// StreamDestroy implements backend.Streams.
func (d *Driver) StreamDestroy(stream backend.Stream) error {
	return d.through("StreamDestroy", func() error { return d.Device.StreamDestroy(stream) })
}

// StreamSynchronize implements backend.Streams.
func (d *Driver) StreamSynchronize(stream backend.Stream) error {
	return d.through("StreamSynchronize", func() error { return d.Device.StreamSynchronize(stream) })
}

// StreamQuery implements backend.Streams.
func (d *Driver) StreamQuery(stream backend.Stream) (bool, error) {
	return valued(d, "StreamQuery", func() (bool, error) { return d.Device.StreamQuery(stream) })
}

// StreamWaitEvent implements backend.Streams.
func (d *Driver) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	return d.through("StreamWaitEvent", func() error { return d.Device.StreamWaitEvent(stream, event) })
}

// EventCreate implements backend.Streams.
func (d *Driver) EventCreate(timing bool) (backend.Event, error) {
	return valued(d, "EventCreate", func() (backend.Event, error) { return d.Device.EventCreate(timing) })
}

// EventDestroy implements backend.Streams.
func (d *Driver) EventDestroy(event backend.Event) error {
	return d.through("EventDestroy", func() error { return d.Device.EventDestroy(event) })
}

// EventRecord implements backend.Streams.
func (d *Driver) EventRecord(event backend.Event, stream backend.Stream) error {
	return d.through("EventRecord", func() error { return d.Device.EventRecord(event, stream) })
}

// EventRecordAll implements backend.ForeignStreams.
func (d *Driver) EventRecordAll(event backend.Event) error {
	return d.through("EventRecordAll", func() error { return d.Device.EventRecordAll(event) })
}

// EventQuery implements backend.Streams.
func (d *Driver) EventQuery(event backend.Event) (bool, error) {
	return valued(d, "EventQuery", func() (bool, error) { return d.Device.EventQuery(event) })
}

// EventSynchronize implements backend.Streams.
func (d *Driver) EventSynchronize(event backend.Event) error {
	return d.through("EventSynchronize", func() error { return d.Device.EventSynchronize(event) })
}

// ModuleLoad implements backend.Modules.
func (d *Driver) ModuleLoad(image []byte) (backend.Module, error) {
	return valued(d, "ModuleLoad", func() (backend.Module, error) { return d.Device.ModuleLoad(image) })
}

// ModuleCompile implements backend.Modules.
func (d *Driver) ModuleCompile(image []byte) ([]byte, error) {
	return valued(d, "ModuleCompile", func() ([]byte, error) { return d.Device.ModuleCompile(image) })
}

// ModuleUnload implements backend.Modules.
func (d *Driver) ModuleUnload(module backend.Module) error {
	return d.through("ModuleUnload", func() error { return d.Device.ModuleUnload(module) })
}

// ModuleFunction implements backend.Modules.
func (d *Driver) ModuleFunction(module backend.Module, name string) (backend.Function, error) {
	return valued(d, "ModuleFunction", func() (backend.Function, error) { return d.Device.ModuleFunction(module, name) })
}

// FunctionAttribute implements backend.Modules.
func (d *Driver) FunctionAttribute(function backend.Function, attribute backend.FunctionAttribute) (int, error) {
	return valued(d, "FunctionAttribute", func() (int, error) { return d.Device.FunctionAttribute(function, attribute) })
}

// FunctionSetAttribute implements backend.Modules.
func (d *Driver) FunctionSetAttribute(function backend.Function, attribute backend.FunctionAttribute, value int) error {
	return d.through("FunctionSetAttribute", func() error { return d.Device.FunctionSetAttribute(function, attribute, value) })
}

// FunctionParameters implements backend.Modules.
func (d *Driver) FunctionParameters(function backend.Function) ([]backend.Parameter, error) {
	return valued(d, "FunctionParameters", func() ([]backend.Parameter, error) { return d.Device.FunctionParameters(function) })
}

// Occupancy implements backend.Modules.
func (d *Driver) Occupancy(function backend.Function, blockThreads int, sharedBytes uint32) (int, error) {
	return valued(d, "Occupancy", func() (int, error) { return d.Device.Occupancy(function, blockThreads, sharedBytes) })
}

// Launch implements backend.Modules.
func (d *Driver) Launch(function backend.Function, config backend.LaunchConfig, slots []uint64, starts []uint32) error {
	return d.through("Launch", func() error { return d.Device.Launch(function, config, slots, starts) })
}

// StreamBeginCapture implements backend.Graphs.
func (d *Driver) StreamBeginCapture(stream backend.Stream) error {
	return d.through("StreamBeginCapture", func() error { return d.Device.StreamBeginCapture(stream) })
}

// StreamEndCapture implements backend.Graphs.
func (d *Driver) StreamEndCapture(stream backend.Stream) (backend.Graph, error) {
	captured, err := allocated(d, "StreamEndCapture", graph, func() (backend.Graph, error) { return d.Device.StreamEndCapture(stream) })
	if err != nil { // by the contract the capture ends even if the call fails
		if lost, failure := d.Device.StreamEndCapture(stream); failure == nil {
			_ = d.Device.GraphDestroy(lost)
		}
	}
	return captured, err
}

// GraphDestroy implements backend.Graphs.
func (d *Driver) GraphDestroy(g backend.Graph) error {
	return freed(d, "GraphDestroy", graph, g, func() error { return d.Device.GraphDestroy(g) })
}

// GraphInstantiate implements backend.Graphs.
func (d *Driver) GraphInstantiate(g backend.Graph) (backend.ExecutableGraph, error) {
	return allocated(d, "GraphInstantiate", executableGraph, func() (backend.ExecutableGraph, error) { return d.Device.GraphInstantiate(g) })
}

// GraphLaunch implements backend.Graphs.
func (d *Driver) GraphLaunch(g backend.ExecutableGraph, stream backend.Stream) error {
	return d.through("GraphLaunch", func() error { return d.Device.GraphLaunch(g, stream) })
}

// GraphExecutableDestroy implements backend.Graphs.
func (d *Driver) GraphExecutableDestroy(g backend.ExecutableGraph) error {
	return freed(d, "GraphExecutableDestroy", executableGraph, g, func() error { return d.Device.GraphExecutableDestroy(g) })
}
