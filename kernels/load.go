package kernels

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// LoadOptions configure a [Module]. The zero value suits most programs.
type LoadOptions struct {
	// Strict refuses arguments with memory that gpuframe cannot order: a raw
	// device.Pointer, which belongs to no known block, and foreign memory without a ready
	// event. Permissive modules pass them on and count them: see
	// [Module.UnrecordedArguments].
	Strict bool
	// CacheDirectory is the directory for compiled code across runs of the program. It is
	// created if necessary. Empty means the directory in the environment variable
	// GPUFRAME_KERNEL_CACHE, and without that no cache.
	//
	// Compiled code is found by a hash of the text, the compute capability of the device
	// and the CUDA version of the driver. A file that is damaged or that the driver
	// refuses is compiled again and replaced. Several processes may share a directory,
	// and files may be removed at any time; gpuframe removes none. Writers of the
	// directory control the code that runs on the device, so allow only trusted users to
	// write there.
	//
	// An unusable directory does not fail the load: see [Module.CacheFailure].
	CacheDirectory string
}

// Module is device code that was loaded onto one device. It is safe for concurrent use.
type Module struct {
	// Not the *device.Device, because a cache of modules by device must not keep the
	// device alive.
	driver      backend.Device
	deviceName  string
	kind        device.Kind
	ordinal     int
	sharedLimit int
	// multiprocessors is the number on the device.
	multiprocessors int
	strict          bool
	unrecorded      atomic.Uint64
	counters        *counters
	functionsMu     sync.RWMutex
	functions       map[string]*Function

	// Users of the handle hold open for reading, so that Close cannot unload the code
	// under them.
	open   sync.RWMutex
	handle backend.Module
	closed bool
	// graphs keep the code loaded after Close.
	graphs graphCount
	// cacheFailure is the error that kept the code out of the directory of compiled code.
	cacheFailure error
	// borrowed: another library owns the handle. shared: all callers that load the same
	// code have this module.
	borrowed, shared bool
}

// Load compiles PTX, or loads a cubin, for the device. The caller closes the module
// before the device.
//
// # Errors
//
// The error for invalid code wraps backend.ErrInvalidCode and contains the compiler's
// log. On the host the error wraps device.ErrNotSupported.
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
	begin := time.Now()
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
	m.counters.modules.Add(1)
	m.counters.loadNanoseconds.Add(uint64(time.Since(begin)))
	return m, nil
}

// CacheFailure returns the error that kept the code from being read from or written to
// the directory of compiled code, or nil; see LoadOptions.CacheDirectory. The module
// works in either case.
func (m *Module) CacheFailure() error { return m.cacheFailure }

func newModule(dev *device.Device, handle backend.Module, options LoadOptions) (*Module, error) {
	sharedLimit, err := dev.Driver().Attribute(backend.MaxSharedMemoryPerBlockOptIn)
	if err != nil {
		return nil, err
	}
	return &Module{
		driver: dev.Driver(), deviceName: dev.Name(), kind: dev.Kind(), ordinal: dev.Info().Ordinal,
		sharedLimit: sharedLimit, multiprocessors: dev.Info().Multiprocessors, strict: options.Strict, functions: map[string]*Function{}, handle: handle,
		counters: countersOf(dev),
	}, nil
}

// Function returns a kernel by its name in the code: the mangled one for C++, unless it
// is declared extern "C". The function is valid until the module is closed. If the module
// has no kernel of that name, the error wraps backend.ErrNotFound.
func (m *Module) Function(name string) (*Function, error) {
	if err := m.enter(); err != nil {
		return nil, fmt.Errorf("kernels: function %q: %w", name, err)
	}
	defer m.leave()
	// One Function for each name, because it records the attributes that were set.
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

// UnrecordedArguments returns the number of arguments passed to kernels with memory that
// gpuframe cannot order; see [LoadOptions]. It is zero for a strict module.
func (m *Module) UnrecordedArguments() uint64 { return m.unrecorded.Load() }

// Close unloads the code. Code of [WrapModule] stays loaded. Code that a [Graph] holds is
// unloaded when the last such graph is closed.
//
// # Errors
//
// Later calls on the module and its functions, and a second Close, return an error that
// wraps device.ErrClosed. For a module of [LoadCached] Close does nothing and returns
// [ErrShared].
//
// # Waiting
//
// Close first waits for all work on the device, because code must not be unloaded under a
// running kernel. It does not wait for code of WrapModule, or for code that a graph
// holds; closing the last graph waits.
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
	// No launch can begin any more, so the wait needs no lock.
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

// enter prevents the unloading of the module until leave.
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
