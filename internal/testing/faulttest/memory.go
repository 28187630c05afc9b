package faulttest

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// The methods of backend.Device that allocate, free and describe memory.

// MemoryInfo implements backend.Device.
func (d *Driver) MemoryInfo() (free, total uint64, err error) {
	if err := d.enter("MemoryInfo"); err != nil {
		return 0, 0, err
	}
	return d.Device.MemoryInfo()
}

// Attribute implements backend.Device.
func (d *Driver) Attribute(attribute backend.Attribute) (int, error) {
	return valued(d, "Attribute", func() (int, error) { return d.Device.Attribute(attribute) })
}

// Synchronize implements backend.Device.
func (d *Driver) Synchronize() error { return d.through("Synchronize", d.Device.Synchronize) }

// Alloc implements backend.Memory.
func (d *Driver) Alloc(bytes uint64) (backend.Pointer, error) {
	return allocated(d, "Alloc", plainMemory, func() (backend.Pointer, error) { return d.Device.Alloc(bytes) })
}

// Free implements backend.Memory.
func (d *Driver) Free(pointer backend.Pointer) error {
	return freed(d, "Free", plainMemory, pointer, func() error { return d.Device.Free(pointer) })
}

// AllocAsync implements backend.Memory.
func (d *Driver) AllocAsync(bytes uint64, pool backend.Pool, stream backend.Stream) (backend.Pointer, error) {
	return allocated(d, "AllocAsync", orderedMemory, func() (backend.Pointer, error) {
		return d.Device.AllocAsync(bytes, pool, stream)
	})
}

// FreeAsync implements backend.Memory.
func (d *Driver) FreeAsync(pointer backend.Pointer, stream backend.Stream) error {
	return freed(d, "FreeAsync", orderedMemory, pointer, func() error { return d.Device.FreeAsync(pointer, stream) })
}

// AllocManaged implements backend.Managed.
func (d *Driver) AllocManaged(bytes uint64) (backend.Pointer, error) {
	return allocated(d, "AllocManaged", plainMemory, func() (backend.Pointer, error) { return d.Device.AllocManaged(bytes) })
}

// PoolCreate implements backend.Memory.
func (d *Driver) PoolCreate(maximum uint64) (backend.Pool, error) {
	return valued(d, "PoolCreate", func() (backend.Pool, error) { return d.Device.PoolCreate(maximum) })
}

// PoolDestroy implements backend.Memory.
func (d *Driver) PoolDestroy(pool backend.Pool) error {
	return d.through("PoolDestroy", func() error { return d.Device.PoolDestroy(pool) })
}

// PoolTrim implements backend.Memory.
func (d *Driver) PoolTrim(pool backend.Pool, keep uint64) error {
	return d.through("PoolTrim", func() error { return d.Device.PoolTrim(pool, keep) })
}

// PoolAttribute implements backend.Memory.
func (d *Driver) PoolAttribute(pool backend.Pool, attribute backend.PoolAttribute) (uint64, error) {
	return valued(d, "PoolAttribute", func() (uint64, error) { return d.Device.PoolAttribute(pool, attribute) })
}

// PoolSetAttribute implements backend.Memory.
func (d *Driver) PoolSetAttribute(pool backend.Pool, attribute backend.PoolAttribute, value uint64) error {
	return d.through("PoolSetAttribute", func() error { return d.Device.PoolSetAttribute(pool, attribute, value) })
}

// HostAlloc implements backend.Memory.
func (d *Driver) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	pointer, err := valued(d, "HostAlloc", func() (unsafe.Pointer, error) { return d.Device.HostAlloc(bytes) })
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.live[allocation{pinnedMemory, uint64(word(pointer))}] = struct{}{}
	}
	return pointer, err
}

// HostFree implements backend.Memory.
func (d *Driver) HostFree(pointer unsafe.Pointer) error {
	return freed(d, "HostFree", pinnedMemory, word(pointer), func() error { return d.Device.HostFree(pointer) })
}

// PointerInfo implements backend.Memory.
func (d *Driver) PointerInfo(pointer backend.Pointer) (backend.PointerInfo, error) {
	return valued(d, "PointerInfo", func() (backend.PointerInfo, error) { return d.Device.PointerInfo(pointer) })
}

// AddressRange implements backend.Memory.
func (d *Driver) AddressRange(pointer backend.Pointer) (base backend.Pointer, bytes uint64, err error) {
	if err := d.enter("AddressRange"); err != nil {
		return 0, 0, err
	}
	return d.Device.AddressRange(pointer)
}

// AddressReserve implements backend.VirtualMemory.
func (d *Driver) AddressReserve(bytes, alignment uint64) (backend.Pointer, error) {
	return allocated(d, "AddressReserve", addressRange, func() (backend.Pointer, error) {
		return d.Device.AddressReserve(bytes, alignment)
	})
}

// AddressFree implements backend.VirtualMemory.
func (d *Driver) AddressFree(pointer backend.Pointer, bytes uint64) error {
	return freed(d, "AddressFree", addressRange, pointer, func() error { return d.Device.AddressFree(pointer, bytes) })
}

// PhysicalGranularity implements backend.VirtualMemory.
func (d *Driver) PhysicalGranularity() (uint64, error) {
	return valued(d, "PhysicalGranularity", d.Device.PhysicalGranularity)
}

// PhysicalCreate implements backend.VirtualMemory.
func (d *Driver) PhysicalCreate(bytes uint64) (backend.Physical, error) {
	return allocated(d, "PhysicalCreate", mappedMemory, func() (backend.Physical, error) { return d.Device.PhysicalCreate(bytes) })
}

// PhysicalRelease implements backend.VirtualMemory.
func (d *Driver) PhysicalRelease(physical backend.Physical) error {
	return freed(d, "PhysicalRelease", mappedMemory, physical, func() error { return d.Device.PhysicalRelease(physical) })
}

// Map implements backend.VirtualMemory.
func (d *Driver) Map(at backend.Pointer, bytes, offset uint64, physical backend.Physical) error {
	return d.through("Map", func() error { return d.Device.Map(at, bytes, offset, physical) })
}

// Unmap implements backend.VirtualMemory.
func (d *Driver) Unmap(at backend.Pointer, bytes uint64) error {
	return d.through("Unmap", func() error { return d.Device.Unmap(at, bytes) })
}

// SetAccess implements backend.VirtualMemory.
func (d *Driver) SetAccess(at backend.Pointer, bytes uint64) error {
	return d.through("SetAccess", func() error { return d.Device.SetAccess(at, bytes) })
}

// PhysicalCreateShared implements backend.SharedMemory.
func (d *Driver) PhysicalCreateShared(bytes uint64) (backend.Physical, error) {
	return allocated(d, "PhysicalCreateShared", mappedMemory, func() (backend.Physical, error) {
		return d.Device.PhysicalCreateShared(bytes)
	})
}

// PhysicalExport implements backend.SharedMemory.
func (d *Driver) PhysicalExport(physical backend.Physical, readOnly bool) (int, error) {
	return valued(d, "PhysicalExport", func() (int, error) { return d.Device.PhysicalExport(physical, readOnly) })
}

// PhysicalImport implements backend.SharedMemory.
func (d *Driver) PhysicalImport(descriptor int, bytes uint64) (backend.Physical, error) {
	return allocated(d, "PhysicalImport", mappedMemory, func() (backend.Physical, error) {
		return d.Device.PhysicalImport(descriptor, bytes)
	})
}

// SetAccessReadOnly implements backend.SharedMemory.
func (d *Driver) SetAccessReadOnly(at backend.Pointer, bytes uint64) error {
	return d.through("SetAccessReadOnly", func() error { return d.Device.SetAccessReadOnly(at, bytes) })
}
