//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

func (d *device) Alloc(bytes uint64) (backend.Pointer, error) {
	if err := d.open("cuMemAlloc"); err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, refuse("cuMemAlloc", "the bytes are zero")
	}
	pointer, result := d.raw.Alloc(bytes)
	if result != libcuda.Success {
		return 0, failed(result, "cuMemAlloc", "%s", humanize.IBytes(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *device) Free(pointer backend.Pointer) error {
	if err := d.open("cuMemFree"); err != nil {
		return err
	}
	if pointer == 0 {
		return refuse("cuMemFree", "the pointer is zero")
	}
	if result := d.raw.Free(uint64(pointer)); result != libcuda.Success {
		return failed(result, "cuMemFree", "%v", pointer)
	}
	return nil
}

func (d *device) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := d.open("cuMemHostAlloc"); err != nil {
		return nil, err
	}
	if bytes == 0 {
		return nil, refuse("cuMemHostAlloc", "the bytes are zero")
	}
	pointer, result := d.raw.HostAlloc(bytes)
	if result != libcuda.Success {
		return nil, failed(result, "cuMemHostAlloc", "%s", humanize.IBytes(bytes))
	}
	return pointer, nil
}

func (d *device) HostFree(pointer unsafe.Pointer) error {
	if err := d.open("cuMemFreeHost"); err != nil {
		return err
	}
	if pointer == nil {
		return refuse("cuMemFreeHost", "the pointer is nil")
	}
	return check(d.raw.HostFree(pointer), "cuMemFreeHost")
}

func (d *device) HostRegister(pointer unsafe.Pointer, bytes uint64) error {
	if err := d.open("cuMemHostRegister"); err != nil {
		return err
	}
	if pointer == nil || bytes == 0 {
		return refuse("cuMemHostRegister", "the pointer is nil or the bytes are zero")
	}
	if result := d.raw.HostRegister(pointer, bytes); result != libcuda.Success {
		return failed(result, "cuMemHostRegister", "%s", humanize.IBytes(bytes))
	}
	return nil
}

func (d *device) HostUnregister(pointer unsafe.Pointer) error {
	if err := d.open("cuMemHostUnregister"); err != nil {
		return err
	}
	if pointer == nil {
		return refuse("cuMemHostUnregister", "the pointer is nil")
	}
	return check(d.raw.HostUnregister(pointer), "cuMemHostUnregister")
}

// PointerInfo returns the number of a device only for device and managed memory:
// page-locked memory belongs to every device.
func (d *device) PointerInfo(pointer backend.Pointer) (backend.PointerInfo, error) {
	if err := d.open("cuPointerGetAttributes"); err != nil {
		return backend.PointerInfo{}, err
	}
	kind, managed, ordinal, result := d.raw.PointerInfo(uint64(pointer))
	if result != libcuda.Success {
		return backend.PointerInfo{}, failed(result, "cuPointerGetAttributes", "%v", pointer)
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
	if err := d.open("cuMemGetAddressRange"); err != nil {
		return 0, 0, err
	}
	if pointer == 0 {
		return 0, 0, refuse("cuMemGetAddressRange", "the pointer is zero")
	}
	start, bytes, result := d.raw.AddressRange(uint64(pointer))
	if result != libcuda.Success {
		err := failed(result, "cuMemGetAddressRange", "%v", pointer)
		if err.Code == CodeNotFound {
			err.sentinel = backend.ErrInvalidValue
			err.detail = "the address lies in no allocation of the driver's"
		}
		return 0, 0, err
	}
	return backend.Pointer(start), bytes, nil
}
