//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"unsafe"

	"github.com/dustin/go-humanize"
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
)

// The binding takes sizes as int64 and converts them to size_t: the same bits.

func (d *openDevice) Alloc(bytes uint64) (backend.Pointer, error) {
	if err := d.open("cuMemAlloc"); err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, refuse("cuMemAlloc", "the bytes are zero")
	}
	var pointer cu.DevicePtr
	err := d.within(func() (err error) {
		pointer, err = cu.MemAlloc(int64(bytes))
		return err
	})
	if err != nil {
		return 0, callFailed(err, "cuMemAlloc", "%s", humanize.IBytes(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *openDevice) Free(pointer backend.Pointer) error {
	if err := d.open("cuMemFree"); err != nil {
		return err
	}
	if pointer == 0 {
		return refuse("cuMemFree", "the pointer is zero")
	}
	if err := d.within(func() error { return cu.MemFree(cu.DevicePtr(pointer)) }); err != nil {
		return callFailed(err, "cuMemFree", "%v", pointer)
	}
	return nil
}

func (d *openDevice) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := d.open("cuMemHostAlloc"); err != nil {
		return nil, err
	}
	if bytes == 0 {
		return nil, refuse("cuMemHostAlloc", "the bytes are zero")
	}
	pointer, result := d.shim.HostAlloc(bytes)
	if result != shim.Success {
		return nil, failed(cuda.Code(result), "cuMemHostAlloc", "%s", humanize.IBytes(bytes))
	}
	return pointer, nil
}

func (d *openDevice) HostFree(pointer unsafe.Pointer) error {
	if err := d.open("cuMemFreeHost"); err != nil {
		return err
	}
	if pointer == nil {
		return refuse("cuMemFreeHost", "the pointer is nil")
	}
	return checkResult(d.shim.HostFree(pointer), "cuMemFreeHost")
}

func (d *openDevice) HostRegister(pointer unsafe.Pointer, bytes uint64) error {
	if err := d.open("cuMemHostRegister"); err != nil {
		return err
	}
	if pointer == nil || bytes == 0 {
		return refuse("cuMemHostRegister", "the pointer is nil or the bytes are zero")
	}
	if result := d.shim.HostRegister(pointer, bytes); result != shim.Success {
		return failed(cuda.Code(result), "cuMemHostRegister", "%s", humanize.IBytes(bytes))
	}
	return nil
}

func (d *openDevice) HostUnregister(pointer unsafe.Pointer) error {
	if err := d.open("cuMemHostUnregister"); err != nil {
		return err
	}
	if pointer == nil {
		return refuse("cuMemHostUnregister", "the pointer is nil")
	}
	return checkResult(d.shim.HostUnregister(pointer), "cuMemHostUnregister")
}

// PointerInfo returns the number of a device only for device and managed memory:
// page-locked memory belongs to every device.
func (d *openDevice) PointerInfo(pointer backend.Pointer) (backend.PointerInfo, error) {
	if err := d.open("cuPointerGetAttributes"); err != nil {
		return backend.PointerInfo{}, err
	}
	kind, managed, ordinal, result := d.shim.PointerInfo(uint64(pointer))
	if result != shim.Success {
		return backend.PointerInfo{}, failed(cuda.Code(result), "cuPointerGetAttributes", "%v", pointer)
	}
	switch {
	case managed:
		return backend.PointerInfo{Kind: backend.MemoryManaged, Ordinal: ordinal}, nil
	case kind == shim.TypeDevice:
		return backend.PointerInfo{Kind: backend.MemoryDevice, Ordinal: ordinal}, nil
	case kind == shim.TypeHost:
		return backend.PointerInfo{Kind: backend.MemoryPinned, Ordinal: -1}, nil
	}
	return backend.PointerInfo{Kind: backend.MemoryUnknown, Ordinal: -1}, nil
}

func (d *openDevice) AddressRange(pointer backend.Pointer) (base backend.Pointer, bytes uint64, err error) {
	const function = "cuMemGetAddressRange"
	if err := d.open(function); err != nil {
		return 0, 0, err
	}
	if pointer == 0 {
		return 0, 0, refuse(function, "the pointer is zero")
	}
	err = d.within(func() error {
		size, start, err := cu.DevicePtr(pointer).AddressRange()
		base, bytes = backend.Pointer(start), uint64(size)
		return err
	})
	switch {
	case err == nil:
		return base, bytes, nil
	case code(err) == cuda.CodeNotFound:
		return 0, 0, refuse(function, "%v lies in no allocation of the driver's", pointer)
	}
	return 0, 0, callFailed(err, function, "%v", pointer)
}
