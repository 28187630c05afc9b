package kernels

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// LoadOptions configure a [Module]. The zero value is right for most programs.
type LoadOptions struct {
	// Strict refuses arguments whose memory gpuframe cannot keep in order: a raw
	// device.Pointer, whose memory nobody is told is in use, and foreign memory
	// that came without an event, whose contents may not be there yet. Otherwise
	// they are passed on and counted: see [Module.UnrecordedArguments].
	Strict bool
	// CacheDirectory is where compiled code is kept, from one run of the program to
	// the next; it is made if need be. Empty means the one that the environment
	// variable GPUFRAME_KERNEL_CACHE names, and where that is empty too none.
	//
	// What PTX is compiled to is found by a hash of the text, the compute capability
	// of the device and the CUDA version of the driver. A file that is damaged or that
	// the driver does not take is compiled anew and replaced. Several processes may
	// share a directory, and files may be removed at any time; gpuframe removes none.
	// Who can write there decides what runs on the device, so let others not.
	//
	// A load does not fail for the directory's sake: see [Module.CacheFailure].
	CacheDirectory string
}

// Module is device code that was loaded onto one device. It is safe for
// concurrent use.
type Module struct {
	// Not the *device.Device, which a cache of modules by device must not keep
	// alive.
	driver      backend.Device
	deviceName  string
	kind        device.Kind
	ordinal     int
	sharedLimit int
	// multiprocessors are the device's.
	multiprocessors int
	strict          bool
	unrecorded      atomic.Uint64
	functionsMu     sync.RWMutex
	functions       map[string]*Function

	// open is held for reading by whoever uses the handle, so that Close cannot
	// unload the code under them.
	open   sync.RWMutex
	handle backend.Module
	closed bool
	// graphs keep the code loaded after Close.
	graphs graphCount
	// cacheFailure is what kept compiled code from being read or kept.
	cacheFailure error
	// borrowed says that another library keeps the handle, shared that all who load
	// the same code have this module.
	borrowed, shared bool
}

// Load compiles PTX, or takes a cubin, for the device. The caller closes the
// module before the device. Where the code is not valid the error wraps
// backend.ErrInvalidCode and holds the compiler's log. On the host it wraps
// device.ErrNotSupported.
func Load[Code ~string | ~[]byte](dev *device.Device, code Code) (*Module, error) {
	return LoadWith(dev, code, LoadOptions{})
}

// LoadWith is [Load] with options.
func LoadWith[Code ~string | ~[]byte](dev *device.Device, code Code, options LoadOptions) (*Module, error) {
	return load(dev, []byte(code), options)
}

func load(dev *device.Device, code []byte, options LoadOptions) (*Module, error) {
	if dev == nil {
		return nil, fmt.Errorf("kernels: load: the device is nil: %w", device.ErrInvalidValue)
	}
	var handle backend.Module
	var cacheFailure, err error
	if cache, ok := newDiskCache(dev, code, options.CacheDirectory); ok {
		handle, cacheFailure, err = cache.load(dev.Driver(), code)
	} else {
		handle, err = dev.Driver().ModuleLoad(code)
	}
	if err != nil {
		return nil, fmt.Errorf("kernels: load %d bytes of code on %s: %w", len(code), dev, err)
	}
	m, err := newModule(dev, handle, options)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("kernels: load on %s: %w", dev, err), dev.Driver().ModuleUnload(handle))
	}
	m.cacheFailure = cacheFailure
	return m, nil
}

// CacheFailure returns why the code could not be read from the directory of compiled
// code, or kept there, or nil; see LoadOptions.CacheDirectory. The module works all
// the same.
func (m *Module) CacheFailure() error { return m.cacheFailure }

func newModule(dev *device.Device, handle backend.Module, options LoadOptions) (*Module, error) {
	sharedLimit, err := dev.Driver().Attribute(backend.MaxSharedMemoryPerBlockOptIn)
	if err != nil {
		return nil, err
	}
	return &Module{
		driver: dev.Driver(), deviceName: dev.Name(), kind: dev.Kind(), ordinal: dev.Info().Ordinal,
		sharedLimit: sharedLimit, multiprocessors: dev.Info().Multiprocessors, strict: options.Strict, functions: map[string]*Function{}, handle: handle,
	}, nil
}

// Function returns a kernel by its name in the code, which for C++ is the mangled
// one unless it is declared extern "C". It is good until the module is closed.
// The error wraps backend.ErrNotFound where there is none.
func (m *Module) Function(name string) (*Function, error) {
	if err := m.enter(); err != nil {
		return nil, fmt.Errorf("kernels: function %q: %w", name, err)
	}
	defer m.leave()
	// One Function for each name: it knows what attributes were set.
	m.functionsMu.RLock()
	known := m.functions[name]
	m.functionsMu.RUnlock()
	if known != nil {
		return known, nil
	}
	m.functionsMu.Lock()
	defer m.functionsMu.Unlock()
	if f := m.functions[name]; f != nil {
		return f, nil
	}
	f, err := newFunction(m, name)
	if err != nil {
		return nil, fmt.Errorf("kernels: function %q on %s: %w", name, m.deviceName, err)
	}
	m.functions[name] = f
	return f, nil
}

// UnrecordedArguments returns how many arguments were passed to kernels whose
// memory gpuframe cannot keep in order; see [LoadOptions]. It is zero for a
// strict module.
func (m *Module) UnrecordedArguments() uint64 { return m.unrecorded.Load() }

// Close unloads the code. It first waits for all work on the device, because code
// must not go away under a kernel that runs. What is called on the module and its
// functions afterwards returns an error that wraps device.ErrClosed, as closing
// twice does. Code of [WrapModule] stays loaded, and Close does not wait. A module
// of [LoadCached] stays as it is: the error is [ErrShared]. Code that a [Graph] holds
// is unloaded when the last such graph is closed, which then waits in its turn.
func (m *Module) Close() error {
	if m.shared {
		return fmt.Errorf("kernels: close module on %s: %w", m.deviceName, ErrShared)
	}
	m.open.Lock()
	closed := m.closed
	m.closed = true
	m.open.Unlock()
	if closed {
		return fmt.Errorf("kernels: close module on %s: %w", m.deviceName, device.ErrClosed)
	}
	if m.borrowed {
		return nil
	}
	// Nothing can be launched any more, so the lock need not be held to wait.
	if !m.graphs.end() {
		return nil // the last graph unloads it
	}
	return m.unload()
}

func (m *Module) unload() error {
	if err := errors.Join(m.driver.Synchronize(), m.driver.ModuleUnload(m.handle)); err != nil {
		return fmt.Errorf("kernels: close module on %s: %w", m.deviceName, err)
	}
	return nil
}

// enter keeps the module from being unloaded until leave.
func (m *Module) enter() error {
	m.open.RLock()
	if m.closed {
		m.open.RUnlock()
		return fmt.Errorf("module on %s: %w", m.deviceName, device.ErrClosed)
	}
	return nil
}

func (m *Module) leave() { m.open.RUnlock() }

// on reports whether the module's code can run on a device.
func (m *Module) on(dev *device.Device) bool {
	return dev.Kind() == m.kind && dev.Info().Ordinal == m.ordinal
}
