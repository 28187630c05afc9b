package kerneltest

import (
	"github.com/gpuframe/gpuframe/device/backend"
)

// emulator is one opening of an emulated device.
type emulator struct {
	backend.Device // the host's
	*shared
}

var _ backend.Device = (*emulator)(nil)

// The limits of the device.
const (
	sharedBytes      = 48 << 10
	sharedBytesOptIn = 227 << 10
	mostThreads      = 1024
	mostPerProcessor = 2048
)

// Info implements backend.Device.
func (e *emulator) Info() backend.Info {
	info := e.Device.Info()
	info.Kind, info.Name = backend.CUDA, "PTX emulator"
	info.Multiprocessors = e.options.Multiprocessors
	info.ComputeCapability = backend.ComputeCapability{Major: 7}
	info.UUID, info.DriverVersion = backend.UUID{15: 1}, 12040
	return info
}

// Attribute implements backend.Device.
func (e *emulator) Attribute(attribute backend.Attribute) (int, error) {
	if err := e.usable(); err != nil {
		return 0, err
	}
	switch attribute {
	case backend.MaxThreadsPerBlock, backend.MaxBlockDimX:
		return mostThreads, nil
	case backend.MaxGridDimX:
		return 1<<31 - 1, nil
	case backend.MaxSharedMemoryPerBlock:
		return sharedBytes, nil
	case backend.MaxSharedMemoryPerBlockOptIn, backend.MaxSharedPerMultiprocessor:
		return sharedBytesOptIn, nil
	case backend.WarpSize:
		return lanes, nil
	case backend.MultiprocessorCount:
		return e.options.Multiprocessors, nil
	case backend.MaxThreadsPerMultiprocessor:
		return mostPerProcessor, nil
	case backend.ComputeCapabilityMajor:
		return 7, nil
	case backend.ClockRateKHz, backend.MemoryClockRateKHz:
		return 1_000_000, nil
	case backend.GlobalMemoryBusWidth:
		return 64, nil
	case backend.L2CacheBytes:
		return 1 << 20, nil
	case backend.ConcurrentKernels, backend.AsyncEngineCount:
		return 1, nil
	}
	return e.Device.Attribute(attribute)
}

// PointerInfo implements backend.Memory. The host reports all memory as host memory:
// allocations of this device become device memory, and the rest is unknown.
func (e *emulator) PointerInfo(pointer backend.Pointer) (backend.PointerInfo, error) {
	info, err := e.Device.PointerInfo(pointer)
	if err != nil || info.Kind != backend.MemoryHost {
		return info, err
	}
	if _, ok := e.memory.find(uint64(pointer)); !ok {
		return backend.PointerInfo{Kind: backend.MemoryUnknown, Ordinal: -1}, nil
	}
	return backend.PointerInfo{Kind: backend.MemoryDevice, Ordinal: info.Ordinal}, nil
}

// AddressRange implements backend.Memory. The range excludes the spare bytes after an
// allocation.
func (e *emulator) AddressRange(pointer backend.Pointer) (base backend.Pointer, bytes uint64, err error) {
	base, bytes, err = e.Device.AddressRange(pointer)
	if err != nil {
		return base, bytes, err
	}
	if allocation, ok := e.memory.find(uint64(base)); ok && allocation.base == uint64(base) {
		if uint64(pointer) >= allocation.end {
			return 0, 0, invalid("AddressRange", "%v lies behind the end of an allocation", pointer)
		}
		bytes = allocation.end - allocation.base
	}
	return base, bytes, nil
}

// usable returns an error if the device is closed.
func (e *emulator) usable() error {
	_, err := e.Device.Attribute(backend.MultiprocessorCount)
	return err
}
