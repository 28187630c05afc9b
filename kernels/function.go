package kernels

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// Function is a kernel of a [Module]. It is safe for concurrent use.
type Function struct {
	module     *Module
	name       string
	handle     backend.Function
	attributes Attributes
	parameters signature

	// readsSettled is set by ReadsSettled.
	readsSettled atomic.Bool

	// sharedAllowed is the dynamic shared memory in bytes that the driver currently
	// allows for a block. It grows under sharedMu.
	sharedAllowed atomic.Uint32
	sharedMu      sync.Mutex

	// shapes caches the number of blocks of a shape that the device runs at a time.
	shapesMu sync.RWMutex
	shapes   map[blockShape]int
}

// ReadsSettled declares that launches write to no memory that is settled, as those of all
// operators of gpuframe: see memory.Block.Settle. Then they do not wait for other streams that
// read it. It returns the function.
func (f *Function) ReadsSettled() *Function {
	f.readsSettled.Store(true)
	return f
}

// Attributes are properties of a compiled kernel. Sizes are in bytes.
type Attributes struct {
	// MaxThreads is the limit of threads in a block.
	MaxThreads int
	// Registers and LocalBytes are the resources of each thread. Registers spill to local
	// memory.
	Registers, LocalBytes int
	// StaticSharedBytes is the shared memory that the code declares for a block,
	// ConstantBytes its constant memory.
	StaticSharedBytes, ConstantBytes int
	// PTXVersion and BinaryVersion are the versions of the PTX and of the compiled code,
	// as 10·major + minor.
	PTXVersion, BinaryVersion int
}

// signature describes a kernel's parameters, if the driver reports them.
type signature struct {
	known      bool
	parameters []backend.Parameter
}

// defaultSharedLimit is the shared memory, static and dynamic, that a block gets without
// the function's attribute being set.
const defaultSharedLimit = 48 << 10

func newFunction(m *Module, name string) (*Function, error) {
	handle, err := m.driver.ModuleFunction(m.handle, name)
	if err != nil {
		return nil, err
	}
	f := &Function{module: m, name: name, handle: handle}
	var dynamicShared int
	for _, wanted := range []struct {
		attribute backend.FunctionAttribute
		into      *int
	}{
		{backend.FunctionMaxThreadsPerBlock, &f.attributes.MaxThreads},
		{backend.FunctionRegisters, &f.attributes.Registers},
		{backend.FunctionLocalBytes, &f.attributes.LocalBytes},
		{backend.FunctionStaticSharedBytes, &f.attributes.StaticSharedBytes},
		{backend.FunctionConstantBytes, &f.attributes.ConstantBytes},
		{backend.FunctionPTXVersion, &f.attributes.PTXVersion},
		{backend.FunctionBinaryVersion, &f.attributes.BinaryVersion},
		{backend.FunctionMaxDynamicSharedBytes, &dynamicShared},
	} {
		if *wanted.into, err = m.driver.FunctionAttribute(handle, wanted.attribute); err != nil {
			return nil, err
		}
	}
	f.sharedAllowed.Store(uint32(max(0, min(dynamicShared, defaultSharedLimit-f.attributes.StaticSharedBytes))))

	f.parameters.parameters, err = m.driver.FunctionParameters(handle)
	f.parameters.known = err == nil
	if err != nil && !errors.Is(err, device.ErrNotSupported) {
		return nil, err
	}
	return f, nil
}

// Name returns the name of the function in the module.
func (f *Function) Name() string { return f.name }

// Attributes returns the properties of the compiled kernel.
func (f *Function) Attributes() Attributes { return f.attributes }

// Occupancy returns the number of blocks that one multiprocessor runs at a time, for
// blocks of blockThreads threads with sharedBytes of dynamic shared memory each.
func (f *Function) Occupancy(blockThreads int, sharedBytes uint32) (blocks int, err error) {
	if err = f.module.enter(); err == nil {
		defer f.module.leave()
		if err = f.allowShared(sharedBytes); err == nil {
			blocks, err = f.module.driver.Occupancy(f.handle, blockThreads, sharedBytes)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("kernels: occupancy of %s: %w", f.name, err)
	}
	return blocks, nil
}

// allowShared raises the limit of dynamic shared memory if necessary. The driver needs
// one call for more than 48 KiB.
func (f *Function) allowShared(bytes uint32) error {
	if bytes <= f.sharedAllowed.Load() {
		return nil
	}
	f.sharedMu.Lock()
	defer f.sharedMu.Unlock()
	if bytes <= f.sharedAllowed.Load() {
		return nil
	}
	static, limit := f.attributes.StaticSharedBytes, f.module.sharedLimit
	if uint64(bytes)+uint64(static) > uint64(limit) {
		return fmt.Errorf("%d bytes of dynamic and %d of static shared memory: a block on %s has at most %d: %w",
			bytes, static, f.module.deviceName, limit, device.ErrInvalidValue)
	}
	if err := f.module.driver.FunctionSetAttribute(f.handle, backend.FunctionMaxDynamicSharedBytes, int(bytes)); err != nil {
		return err
	}
	f.sharedAllowed.Store(bytes)
	return nil
}
