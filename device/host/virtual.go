package host

import (
	"errors"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
)

// virtual returns an error for a closed device and for a system that cannot map memory.
func (d *device) virtual(operation string) error {
	if err := d.check(operation); err != nil {
		return err
	}
	if !vmem.Supported() {
		return failure(operation, backend.ErrNotSupported, "memory can be mapped on Linux only, and only where memfd_create is permitted")
	}
	return nil
}

// faulted converts an error of the space, or returns nil. A misuse is an invalid value.
// Any other error is a lack of a resource of the system: addresses, memory, file
// descriptors, or mappings, which Linux limits for each process.
func faulted(operation string, err error) error {
	if err == nil {
		return nil
	}
	if fault := misuse(""); errors.As(err, &fault) {
		return invalid(operation, "%s", fault)
	}
	return failure(operation, backend.ErrOutOfMemory, "%v", err)
}

func (d *device) AddressReserve(bytes, alignment uint64) (backend.Pointer, error) {
	const operation = "AddressReserve"
	if err := d.virtual(operation); err != nil {
		return 0, err
	}
	if bytes == 0 || bytes%vmem.Granularity != 0 {
		return 0, invalid(operation, "%d bytes: pass a multiple of %d", bytes, vmem.Granularity)
	}
	if alignment&(alignment-1) != 0 {
		return 0, invalid(operation, "alignment %d: pass a power of two, or zero", alignment)
	}
	if bytes > largestRequest || alignment > largestRequest {
		return 0, failure(operation, backend.ErrOutOfMemory, "%d bytes, aligned to %d: the address space has not so many", bytes, alignment)
	}
	base, err := addresses.reserve(bytes, alignment)
	return backend.Pointer(base), faulted(operation, err)
}

func (d *device) AddressFree(pointer backend.Pointer, bytes uint64) error {
	const operation = "AddressFree"
	if err := d.virtual(operation); err != nil {
		return err
	}
	if err := whole(uintptr(pointer), bytes); err != nil {
		return faulted(operation, err)
	}
	return faulted(operation, addresses.free(uintptr(pointer), bytes))
}

func (d *device) PhysicalGranularity() (bytes uint64, err error) {
	if err := d.virtual("PhysicalGranularity"); err != nil {
		return 0, err
	}
	return vmem.Granularity, nil
}

// PhysicalCreate returns an error if the physical memory of all Devices would exceed
// that of the machine.
func (d *device) PhysicalCreate(bytes uint64) (backend.Physical, error) {
	const operation = "PhysicalCreate"
	if err := d.virtual(operation); err != nil {
		return 0, err
	}
	return d.create(operation, bytes, vmem.Create)
}

func (d *device) create(operation string, bytes uint64, from func(bytes uint64) (vmem.Memory, error)) (backend.Physical, error) {
	if bytes == 0 || bytes%vmem.Granularity != 0 {
		return 0, invalid(operation, "%d bytes: pass a multiple of %d", bytes, vmem.Granularity)
	}
	if bytes > largestRequest {
		return 0, failure(operation, backend.ErrOutOfMemory, "%d bytes: the machine has %d", bytes, d.info.TotalMemory)
	}
	handle, err := addresses.create(d.info.Ordinal, bytes, d.info.TotalMemory, from)
	if err != nil {
		return 0, failure(operation, backend.ErrOutOfMemory, "%d bytes: %v", bytes, err)
	}
	return handle, nil
}

func (d *device) PhysicalRelease(handle backend.Physical) error {
	if err := d.virtual("PhysicalRelease"); err != nil {
		return err
	}
	return faulted("PhysicalRelease", addresses.release(handle))
}

// Map accepts any offset that is a multiple of the granularity.
func (d *device) Map(at backend.Pointer, bytes, offset uint64, handle backend.Physical) error {
	const operation = "Map"
	if err := d.virtual(operation); err != nil {
		return err
	}
	if err := whole(uintptr(at), bytes); err != nil {
		return faulted(operation, err)
	}
	return faulted(operation, addresses.attach(uintptr(at), bytes, offset, handle))
}

// Unmap waits for the enqueued work of all streams: work that touched unmapped memory
// would end the process.
func (d *device) Unmap(at backend.Pointer, bytes uint64) error {
	const operation = "Unmap"
	if err := d.virtual(operation); err != nil {
		return err
	}
	if err := whole(uintptr(at), bytes); err != nil {
		return faulted(operation, err)
	}
	m, err := addresses.end(uintptr(at), bytes)
	if err != nil {
		return faulted(operation, err)
	}
	d.waitForAll()
	return faulted(operation, addresses.detach(uintptr(at), m))
}

func (d *device) SetAccess(at backend.Pointer, bytes uint64) error {
	const operation = "SetAccess"
	if err := d.virtual(operation); err != nil {
		return err
	}
	if err := whole(uintptr(at), bytes); err != nil {
		return faulted(operation, err)
	}
	return faulted(operation, addresses.permit(uintptr(at), bytes, true))
}
