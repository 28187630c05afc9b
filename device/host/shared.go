package host

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
)

// shared returns an error for a closed device and for a system that cannot share
// memory.
func (d *device) shared(operation string) error {
	if err := d.check(operation); err != nil {
		return err
	}
	if !vmem.CanShare() {
		return failure(operation, backend.ErrNotSupported, "memory can be shared on Linux only, and only where memfd_create and seals are permitted")
	}
	return nil
}

// PhysicalCreateShared refuses what PhysicalCreate does.
func (d *device) PhysicalCreateShared(bytes uint64) (backend.Physical, error) {
	const operation = "PhysicalCreateShared"
	if err := d.shared(operation); err != nil {
		return 0, err
	}
	return d.create(operation, bytes, vmem.CreateShared)
}

func (d *device) PhysicalExport(handle backend.Physical, readOnly bool) (int, error) {
	const operation = "PhysicalExport"
	if err := d.shared(operation); err != nil {
		return -1, err
	}
	descriptor, err := addresses.export(handle, readOnly)
	return descriptor, faulted(operation, err)
}

func (d *device) PhysicalImport(descriptor int, bytes uint64) (backend.Physical, error) {
	const operation = "PhysicalImport"
	if err := d.shared(operation); err != nil {
		return 0, err
	}
	if bytes == 0 || bytes%vmem.Granularity != 0 {
		return 0, invalid(operation, "%d bytes: pass a multiple of %d", bytes, vmem.Granularity)
	}
	handle, err := addresses.adopt(d.info.Ordinal, descriptor, bytes)
	return handle, faulted(operation, err)
}

func (d *device) SetAccessReadOnly(at backend.Pointer, bytes uint64) error {
	const operation = "SetAccessReadOnly"
	if err := d.shared(operation); err != nil {
		return err
	}
	if err := whole(uintptr(at), bytes); err != nil {
		return faulted(operation, err)
	}
	return faulted(operation, addresses.permit(uintptr(at), bytes, false))
}

// export makes a descriptor of shared memory.
func (s *space) export(handle backend.Physical, readOnly bool) (int, error) {
	s.mu.RLock() // the file must not be closed meanwhile
	defer s.mu.RUnlock()
	p, ok := s.physicals[handle]
	if !ok {
		return -1, misused("physical memory %d does not belong to this device or was released", handle)
	}
	if !p.memory.Shared() || p.imported {
		return -1, misused("physical memory %d was not made by PhysicalCreateShared", handle)
	}
	return p.memory.Export(readOnly)
}

// adopt makes a handle for another process's memory.
func (s *space) adopt(ordinal, descriptor int, bytes uint64) (backend.Physical, error) {
	memory, err := vmem.Import(descriptor, bytes)
	if errors.Is(err, vmem.ErrNotShared) {
		return 0, misuse(fmt.Sprint(err))
	}
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(&physical{memory: memory, bytes: bytes, ordinal: ordinal, uses: 1, imported: true}), nil
}
