//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// The binding takes sizes as int64 and converts them to size_t: the same bits.

func (d *openDevice) Alloc(bytes uint64) (backend.Pointer, error) {
	if err := d.guard.Bytes("cuMemAlloc", bytes); err != nil {
		return 0, err
	}
	var pointer cu.DevicePtr
	err := d.within(func() (err error) {
		pointer, err = cu.MemAlloc(int64(bytes))
		return err
	})
	if err != nil {
		return 0, callFailed(err, "cuMemAlloc", drivercall.Size(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *openDevice) Free(pointer backend.Pointer) error {
	if err := d.guard.Pointer("cuMemFree", pointer); err != nil {
		return err
	}
	if err := d.within(func() error { return cu.MemFree(cu.DevicePtr(pointer)) }); err != nil {
		return callFailed(err, "cuMemFree", pointer.String())
	}
	return nil
}

func (d *openDevice) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := d.guard.Bytes("cuMemHostAlloc", bytes); err != nil {
		return nil, err
	}
	pointer, result := d.shim.HostAlloc(bytes)
	if result != shim.Success {
		return nil, failed(cuda.Code(result), "cuMemHostAlloc", drivercall.Size(bytes))
	}
	return pointer, nil
}

func (d *openDevice) HostFree(pointer unsafe.Pointer) error {
	if err := d.guard.HostPointer("cuMemFreeHost", pointer); err != nil {
		return err
	}
	return checkResult(d.shim.HostFree(pointer), "cuMemFreeHost")
}

func (d *openDevice) HostRegister(pointer unsafe.Pointer, bytes uint64) error {
	if err := d.guard.HostRange("cuMemHostRegister", pointer, bytes); err != nil {
		return err
	}
	if result := d.shim.HostRegister(pointer, bytes); result != shim.Success {
		return failed(cuda.Code(result), "cuMemHostRegister", drivercall.Size(bytes))
	}
	return nil
}

func (d *openDevice) HostUnregister(pointer unsafe.Pointer) error {
	if err := d.guard.HostPointer("cuMemHostUnregister", pointer); err != nil {
		return err
	}
	return checkResult(d.shim.HostUnregister(pointer), "cuMemHostUnregister")
}

// PointerInfo returns the number of a device only for device and managed memory:
// page-locked memory belongs to every device.
func (d *openDevice) PointerInfo(pointer backend.Pointer) (backend.PointerInfo, error) {
	if err := d.guard.Open("cuPointerGetAttributes"); err != nil {
		return backend.PointerInfo{}, err
	}
	kind, managed, ordinal, result := d.shim.PointerInfo(uint64(pointer))
	if result != shim.Success {
		return backend.PointerInfo{}, failed(cuda.Code(result), "cuPointerGetAttributes", pointer.String())
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
	if err := d.guard.Pointer(function, pointer); err != nil {
		return 0, 0, err
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
		return 0, 0, refused(drivercall.Call(function, pointer.String()), int32(cuda.CodeInvalidValue), drivercall.NotInAllocation)
	}
	return 0, 0, callFailed(err, function, pointer.String())
}
