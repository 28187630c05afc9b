//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// rangeResult is checkResult for calls with a range of addresses, which its error
// names.
func rangeResult(result shim.Result, function string, at backend.Pointer, bytes uint64) error {
	if result != shim.Success {
		return failed(cuda.Code(result), function, drivercall.At(at, bytes))
	}
	return nil
}

func (d *openDevice) AddressReserve(bytes, alignment uint64) (backend.Pointer, error) {
	const function = "cuMemAddressReserve"
	if err := d.guard.VirtualBytes(function, bytes); err != nil {
		return 0, err
	}
	pointer, result := d.shim.AddressReserve(bytes, alignment)
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, drivercall.Reservation(bytes, alignment))
	}
	return backend.Pointer(pointer), nil
}

func (d *openDevice) AddressFree(pointer backend.Pointer, bytes uint64) error {
	const function = "cuMemAddressFree"
	if err := d.guard.Range(function, pointer, bytes); err != nil {
		return err
	}
	return rangeResult(d.shim.AddressFree(uint64(pointer), bytes), function, pointer, bytes)
}

func (d *openDevice) PhysicalGranularity() (uint64, error) {
	const function = "cuMemGetAllocationGranularity"
	if err := d.guard.Virtual(function); err != nil {
		return 0, err
	}
	minimum, recommended, result := d.shim.PhysicalGranularity()
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, "")
	}
	return drivercall.Granularity(minimum, recommended), nil
}

func (d *openDevice) PhysicalCreate(bytes uint64) (backend.Physical, error) {
	if err := d.guard.VirtualBytes("cuMemCreate", bytes); err != nil {
		return 0, err
	}
	return d.createPhysical(bytes, false)
}

func (d *openDevice) createPhysical(bytes uint64, shared bool) (backend.Physical, error) {
	const function = "cuMemCreate"
	physical, result := d.shim.PhysicalCreate(bytes, shared)
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, drivercall.Size(bytes))
	}
	return backend.Physical(physical), nil
}

func (d *openDevice) PhysicalRelease(physical backend.Physical) error {
	const function = "cuMemRelease"
	if err := d.guard.Physical(function, physical); err != nil {
		return err
	}
	return checkResult(d.shim.PhysicalRelease(uint64(physical)), function)
}

func (d *openDevice) Map(at backend.Pointer, bytes, offset uint64, physical backend.Physical) error {
	const function = "cuMemMap"
	if err := d.guard.Map(function, at, bytes, physical); err != nil {
		return err
	}
	return rangeResult(d.shim.Map(uint64(at), bytes, offset, uint64(physical)), function, at, bytes)
}

func (d *openDevice) Unmap(at backend.Pointer, bytes uint64) error {
	const function = "cuMemUnmap"
	if err := d.guard.Range(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.shim.Unmap(uint64(at), bytes), function, at, bytes)
}

func (d *openDevice) SetAccess(at backend.Pointer, bytes uint64) error {
	const function = "cuMemSetAccess"
	if err := d.guard.Range(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.shim.SetAccess(uint64(at), bytes, false), function, at, bytes)
}
