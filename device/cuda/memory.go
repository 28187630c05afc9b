//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

func (d *device) Alloc(bytes uint64) (backend.Pointer, error) {
	if err := d.guard.Bytes("cuMemAlloc", bytes); err != nil {
		return 0, err
	}
	pointer, result := d.raw.Alloc(bytes)
	if result != libcuda.Success {
		return 0, failed(result, "cuMemAlloc", drivercall.Size(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *device) Free(pointer backend.Pointer) error {
	if err := d.guard.Pointer("cuMemFree", pointer); err != nil {
		return err
	}
	if result := d.raw.Free(uint64(pointer)); result != libcuda.Success {
		return failed(result, "cuMemFree", pointer.String())
	}
	return nil
}

func (d *device) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := d.guard.Bytes("cuMemHostAlloc", bytes); err != nil {
		return nil, err
	}
	pointer, result := d.raw.HostAlloc(bytes)
	if result != libcuda.Success {
		return nil, failed(result, "cuMemHostAlloc", drivercall.Size(bytes))
	}
	return pointer, nil
}

func (d *device) HostFree(pointer unsafe.Pointer) error {
	if err := d.guard.HostPointer("cuMemFreeHost", pointer); err != nil {
		return err
	}
	return check(d.raw.HostFree(pointer), "cuMemFreeHost")
}

func (d *device) HostRegister(pointer unsafe.Pointer, bytes uint64) error {
	if err := d.guard.HostRange("cuMemHostRegister", pointer, bytes); err != nil {
		return err
	}
	if result := d.raw.HostRegister(pointer, bytes); result != libcuda.Success {
		return failed(result, "cuMemHostRegister", drivercall.Size(bytes))
	}
	return nil
}

func (d *device) HostUnregister(pointer unsafe.Pointer) error {
	if err := d.guard.HostPointer("cuMemHostUnregister", pointer); err != nil {
		return err
	}
	return check(d.raw.HostUnregister(pointer), "cuMemHostUnregister")
}

// PointerInfo returns the number of a device only for device and managed memory:
// page-locked memory belongs to every device.
func (d *device) PointerInfo(pointer backend.Pointer) (backend.PointerInfo, error) {
	if err := d.guard.Open("cuPointerGetAttributes"); err != nil {
		return backend.PointerInfo{}, err
	}
	kind, managed, ordinal, result := d.raw.PointerInfo(uint64(pointer))
	if result != libcuda.Success {
		return backend.PointerInfo{}, failed(result, "cuPointerGetAttributes", pointer.String())
	}
	switch {
	case managed:
		return backend.PointerInfo{Kind: backend.MemoryManaged, Ordinal: ordinal}, nil
	case kind == libcuda.TypeDevice:
		return backend.PointerInfo{Kind: backend.MemoryDevice, Ordinal: ordinal}, nil
	case kind == libcuda.TypeHost:
		return backend.PointerInfo{Kind: backend.MemoryPinned, Ordinal: -1}, nil
	}
	return backend.PointerInfo{Kind: backend.MemoryUnknown, Ordinal: -1}, nil
}

func (d *device) AddressRange(pointer backend.Pointer) (base backend.Pointer, bytes uint64, err error) {
	if err := d.guard.Pointer("cuMemGetAddressRange", pointer); err != nil {
		return 0, 0, err
	}
	start, bytes, result := d.raw.AddressRange(uint64(pointer))
	if result != libcuda.Success {
		err := failed(result, "cuMemGetAddressRange", pointer.String())
		if err.Code == CodeNotFound {
			err.sentinel = backend.ErrInvalidValue
			err.Detail = drivercall.NotInAllocation
		}
		return 0, 0, err
	}
	return backend.Pointer(start), bytes, nil
}
