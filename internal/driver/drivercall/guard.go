package drivercall

import (
	"fmt"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
)

// The driver's results for calls that a Guard refuses.
const (
	invalidValue     = 1
	needsNewerDriver = 36
	notSupported     = 801
)

// Guard checks the arguments of the calls on one device. It refuses what the driver
// leaves undefined: calls on a closed device, and arguments on which the driver may
// crash. A check that passes allocates nothing.
type Guard struct {
	// Backend is the name of the backend in errors.
	Backend string
	Info    backend.Info
	// Devices is the number of devices that the driver shows the process.
	Devices int
	// LeastHandle is the smallest valid handle, at least 1.
	LeastHandle uintptr
	// Failed makes the backend's error from the driver's function, a result of the
	// driver, and the invalid argument or the remedy.
	Failed func(function string, result int32, detail string) error

	maps, shares, manages, prefetches bool
	closed                            atomic.Bool

	// defaultPool is zero if the device has no pools; noPools is then the driver's result.
	defaultPool uintptr
	noPools     int32
}

// ReadProperties reads the properties of the device that the checks depend on.
func (g *Guard) ReadProperties(has func(backend.Attribute) bool) {
	g.maps = has(backend.VirtualMemoryManagement)
	g.shares = has(backend.SharesByDescriptor)
	g.manages = has(backend.ManagedMemory)
	g.prefetches = has(backend.ConcurrentManagedAccess)
}

// Open returns an error that wraps [backend.ErrClosed] after Close.
func (g *Guard) Open(function string) error {
	if g.closed.Load() {
		return g.alreadyClosed(function)
	}
	return nil
}

// Close refuses every later call. A second call returns an error.
func (g *Guard) Close() error {
	if g.closed.Swap(true) {
		return g.alreadyClosed("Close")
	}
	return nil
}

func (g *Guard) alreadyClosed(function string) error {
	return fmt.Errorf("%s: %s: device %d: %w", g.Backend, function, g.Info.Ordinal, backend.ErrClosed)
}

// Refuse returns the error for an argument that is not passed to the driver.
func (g *Guard) Refuse(function, format string, arguments ...any) error {
	return g.Failed(function, invalidValue, fmt.Sprintf(format, arguments...))
}

func (g *Guard) lacks(function, what string) error {
	return g.Failed(function, notSupported, what)
}

// Handle checks the handle of an event, a graph, a module or a function: kind is that
// noun.
func (g *Guard) Handle(function, kind string, handle uintptr) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if handle < g.LeastHandle {
		return g.Refuse(function, "the %s is %d, which is no handle", kind, handle)
	}
	return nil
}

// OwnStream checks that a stream is not the default stream, which cannot be destroyed
// or captured; done is that participle.
func (g *Guard) OwnStream(function string, stream backend.Stream, done string) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if stream == 0 {
		return g.Refuse(function, "the default stream cannot be %s", done)
	}
	return nil
}
