// Package callcount counts the calls that a device's driver receives, so that tests can pin
// the number of launches, allocations, copies and waits of an operator.
package callcount

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// Device is a backend that counts the calls of another one. It offers the methods of
// backend.Device only, so a manager uses no graphs and no virtual memory.
type Device struct {
	backend.Device
	// Discard leaves out launches, to measure the time of the host. Copies to the host are
	// zeros then.
	Discard bool

	mu    sync.Mutex
	calls Calls
	// kernels has the names of functions.
	kernels map[backend.Function]string
}

// Calls is the number of calls by name, and their time. Kernels has the launches by kernel.
type Calls struct {
	Count, Kernels map[string]int
	Time           map[string]time.Duration
}

// Names of counted calls.
const (
	Launch   = "launch"
	Allocate = "allocate"
	Free     = "free"
	Copy     = "copy"
	Download = "download" // copy to the host, which waits for it
	Fill     = "fill"
	Wait     = "wait"   // of the host
	Query    = "query"  // of a stream or an event
	Event    = "event"  // made, recorded, or waited for by a stream
	Peer     = "peer"   // copy from another device
	Access   = "access" // to another device: asked for or enabled
	Stream   = "stream" // made
	Load     = "load"   // of code
	Compile  = "compile"
)

// String lists the counts in the order of their names.
func (c Calls) String() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.Count)) {
		text := fmt.Sprintf("%s %d", name, c.Count[name])
		if took := c.Time[name]; took > 0 {
			text += fmt.Sprintf(" (%.1f µs)", float64(took.Nanoseconds())/1e3)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

var registered atomic.Int64

type driver struct{ device *Device }

func (d driver) Devices() ([]backend.Info, error) { return []backend.Info{d.device.Info()}, nil }
func (d driver) Open(int) (backend.Device, error) { return d.device, nil }

// Register makes a device over another one, which device.Open opens by the returned name.
// The device below must stay open, and closing this one does not close it.
func Register(below *device.Device) (name string, counted *Device, err error) {
	counted = &Device{Device: below.Driver(), kernels: map[backend.Function]string{}}
	counted.Take()
	name = fmt.Sprintf("callcount-%d", registered.Add(1))
	return name, counted, device.Register(name, driver{counted})
}

// family are counted devices of one backend.
type family []*Device

func (f family) Devices() (list []backend.Info, err error) {
	for _, d := range f {
		list = append(list, d.Info())
	}
	return list, nil
}

func (f family) Open(ordinal int) (backend.Device, error) {
	if ordinal < 0 || ordinal >= len(f) {
		return nil, fmt.Errorf("callcount: ordinal %d: %w", ordinal, backend.ErrNoDevice)
	}
	return f[ordinal], nil
}

// RegisterAll makes devices over several ones, with the ordinals 0, 1, 2 and so on: see [Register].
func RegisterAll(below []*device.Device) (names []string, counted []*Device, err error) {
	number := registered.Add(1)
	for i, b := range below {
		d := &Device{Device: b.Driver(), kernels: map[backend.Function]string{}}
		d.Take()
		names, counted = append(names, fmt.Sprintf("callcount-%d:%d", number, i)), append(counted, d)
	}
	return names, counted, device.Register(fmt.Sprintf("callcount-%d", number), family(counted))
}

// Take returns the calls since the last Take.
func (d *Device) Take() Calls {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.calls
	d.calls = Calls{map[string]int{}, map[string]int{}, map[string]time.Duration{}}
	return taken
}

func (d *Device) note(name string, began time.Time) {
	took := time.Since(began)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls.Count[name]++
	d.calls.Time[name] += took
}

// Close implements backend.Device. It leaves the device below open.
func (d *Device) Close() error { return nil }

// Synchronize implements backend.Device.
func (d *Device) Synchronize() error {
	defer d.note(Wait, time.Now())
	return d.Device.Synchronize()
}

// Alloc implements backend.Memory.
func (d *Device) Alloc(bytes uint64) (backend.Pointer, error) {
	defer d.note(Allocate, time.Now())
	return d.Device.Alloc(bytes)
}

// Free implements backend.Memory.
func (d *Device) Free(pointer backend.Pointer) error {
	defer d.note(Free, time.Now())
	return d.Device.Free(pointer)
}

// AllocAsync implements backend.Memory.
func (d *Device) AllocAsync(bytes uint64, pool backend.Pool, stream backend.Stream) (backend.Pointer, error) {
	defer d.note(Allocate, time.Now())
	return d.Device.AllocAsync(bytes, pool, stream)
}

// FreeAsync implements backend.Memory.
func (d *Device) FreeAsync(pointer backend.Pointer, stream backend.Stream) error {
	defer d.note(Free, time.Now())
	return d.Device.FreeAsync(pointer, stream)
}

// CopyToDevice implements backend.Copier.
func (d *Device) CopyToDevice(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error {
	defer d.note(Copy, time.Now())
	return d.Device.CopyToDevice(destination, source, bytes)
}

// CopyToHost implements backend.Copier.
func (d *Device) CopyToHost(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error {
	defer d.note(Download, time.Now())
	if d.Discard {
		clear(unsafe.Slice((*byte)(destination), bytes))
		return nil
	}
	return d.Device.CopyToHost(destination, source, bytes)
}

// CopyOnDevice implements backend.Copier.
func (d *Device) CopyOnDevice(destination, source backend.Pointer, bytes uint64) error {
	defer d.note(Copy, time.Now())
	return d.Device.CopyOnDevice(destination, source, bytes)
}

// CopyToDeviceAsync implements backend.Copier.
func (d *Device) CopyToDeviceAsync(destination backend.Pointer, source unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	defer d.note(Copy, time.Now())
	return d.Device.CopyToDeviceAsync(destination, source, bytes, stream)
}

// CopyToHostAsync implements backend.Copier.
func (d *Device) CopyToHostAsync(destination unsafe.Pointer, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	defer d.note(Download, time.Now())
	if d.Discard {
		clear(unsafe.Slice((*byte)(destination), bytes))
		return nil
	}
	return d.Device.CopyToHostAsync(destination, source, bytes, stream)
}

// CopyOnDeviceAsync implements backend.Copier.
func (d *Device) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	defer d.note(Copy, time.Now())
	return d.Device.CopyOnDeviceAsync(destination, source, bytes, stream)
}

// CopyFromPeerAsync implements backend.Peers.
func (d *Device) CopyFromPeerAsync(destination, source backend.Pointer, peerOrdinal int, bytes uint64, stream backend.Stream) error {
	defer d.note(Peer, time.Now())
	return d.Device.CopyFromPeerAsync(destination, source, peerOrdinal, bytes, stream)
}

// CanAccessPeer implements backend.Peers.
func (d *Device) CanAccessPeer(peerOrdinal int) (bool, error) {
	defer d.note(Access, time.Now())
	return d.Device.CanAccessPeer(peerOrdinal)
}

// EnablePeerAccess implements backend.Peers.
func (d *Device) EnablePeerAccess(peerOrdinal int) error {
	defer d.note(Access, time.Now())
	return d.Device.EnablePeerAccess(peerOrdinal)
}

// StreamCreate implements backend.Streams.
func (d *Device) StreamCreate() (backend.Stream, error) {
	defer d.note(Stream, time.Now())
	return d.Device.StreamCreate()
}

// Memset implements backend.Copier.
func (d *Device) Memset(destination backend.Pointer, value uint32, width int, count uint64) error {
	defer d.note(Fill, time.Now())
	return d.Device.Memset(destination, value, width, count)
}

// MemsetAsync implements backend.Copier.
func (d *Device) MemsetAsync(destination backend.Pointer, value uint32, width int, count uint64, stream backend.Stream) error {
	defer d.note(Fill, time.Now())
	return d.Device.MemsetAsync(destination, value, width, count, stream)
}

// StreamSynchronize implements backend.Streams.
func (d *Device) StreamSynchronize(stream backend.Stream) error {
	defer d.note(Wait, time.Now())
	return d.Device.StreamSynchronize(stream)
}

// EventSynchronize implements backend.Streams.
func (d *Device) EventSynchronize(event backend.Event) error {
	defer d.note(Wait, time.Now())
	return d.Device.EventSynchronize(event)
}

// StreamQuery implements backend.Streams.
func (d *Device) StreamQuery(stream backend.Stream) (done bool, err error) {
	defer d.note(Query, time.Now())
	return d.Device.StreamQuery(stream)
}

// EventQuery implements backend.Streams.
func (d *Device) EventQuery(event backend.Event) (done bool, err error) {
	defer d.note(Query, time.Now())
	return d.Device.EventQuery(event)
}

// EventCreate implements backend.Streams.
func (d *Device) EventCreate(timing bool) (backend.Event, error) {
	defer d.note(Event, time.Now())
	return d.Device.EventCreate(timing)
}

// EventRecord implements backend.Streams.
func (d *Device) EventRecord(event backend.Event, stream backend.Stream) error {
	defer d.note(Event, time.Now())
	return d.Device.EventRecord(event, stream)
}

// StreamWaitEvent implements backend.Streams.
func (d *Device) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	defer d.note(Event, time.Now())
	return d.Device.StreamWaitEvent(stream, event)
}

// ModuleLoad implements backend.Modules.
func (d *Device) ModuleLoad(image []byte) (backend.Module, error) {
	defer d.note(Load, time.Now())
	return d.Device.ModuleLoad(image)
}

// ModuleCompile implements backend.Modules.
func (d *Device) ModuleCompile(image []byte) (cubin []byte, err error) {
	defer d.note(Compile, time.Now())
	return d.Device.ModuleCompile(image)
}

// ModuleFunction implements backend.Modules. It notes the name of the kernel.
func (d *Device) ModuleFunction(module backend.Module, name string) (backend.Function, error) {
	function, err := d.Device.ModuleFunction(module, name)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.kernels[function] = name
	}
	return function, err
}

func (d *Device) noteKernel(function backend.Function) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls.Kernels[d.kernels[function]]++
}

// Launch implements backend.Modules.
func (d *Device) Launch(function backend.Function, config backend.LaunchConfig, slots []uint64, starts []uint32) error {
	d.noteKernel(function)
	defer d.note(Launch, time.Now())
	if d.Discard {
		return nil
	}
	return d.Device.Launch(function, config, slots, starts)
}
