//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// rangeResult is check for calls with a range of addresses, which its error names.
func rangeResult(result libcuda.Result, function string, at backend.Pointer, bytes uint64) error {
	if result != libcuda.Success {
		return failed(result, function, drivercall.At(at, bytes))
	}
	return nil
}

func (d *device) AddressReserve(bytes, alignment uint64) (backend.Pointer, error) {
	const function = "cuMemAddressReserve"
	if err := d.guard.VirtualBytes(function, bytes); err != nil {
		return 0, err
	}
	pointer, result := d.raw.AddressReserve(bytes, alignment)
	if result != libcuda.Success {
		return 0, failed(result, function, drivercall.Reservation(bytes, alignment))
	}
	return backend.Pointer(pointer), nil
}

func (d *device) AddressFree(pointer backend.Pointer, bytes uint64) error {
	const function = "cuMemAddressFree"
	if err := d.guard.Range(function, pointer, bytes); err != nil {
		return err
	}
	return rangeResult(d.raw.AddressFree(uint64(pointer), bytes), function, pointer, bytes)
}

func (d *device) PhysicalGranularity() (uint64, error) {
	const function = "cuMemGetAllocationGranularity"
	if err := d.guard.Virtual(function); err != nil {
		return 0, err
	}
	minimum, recommended, result := d.raw.PhysicalGranularity()
	if result != libcuda.Success {
		return 0, failed(result, function, "")
	}
	return drivercall.Granularity(minimum, recommended), nil
}

func (d *device) PhysicalCreate(bytes uint64) (backend.Physical, error) {
	const function = "cuMemCreate"
	if err := d.guard.VirtualBytes(function, bytes); err != nil {
		return 0, err
	}
	physical, result := d.raw.PhysicalCreate(bytes)
	if result != libcuda.Success {
		return 0, failed(result, function, drivercall.Size(bytes))
	}
	return backend.Physical(physical), nil
}

func (d *device) PhysicalRelease(physical backend.Physical) error {
	const function = "cuMemRelease"
	if err := d.guard.Physical(function, physical); err != nil {
		return err
	}
	return check(d.raw.PhysicalRelease(uint64(physical)), function)
}

func (d *device) Map(at backend.Pointer, bytes, offset uint64, physical backend.Physical) error {
	const function = "cuMemMap"
	if err := d.guard.Map(function, at, bytes, physical); err != nil {
		return err
	}
	return rangeResult(d.raw.Map(uint64(at), bytes, offset, uint64(physical)), function, at, bytes)
}

func (d *device) Unmap(at backend.Pointer, bytes uint64) error {
	const function = "cuMemUnmap"
	if err := d.guard.Range(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.raw.Unmap(uint64(at), bytes), function, at, bytes)
}

func (d *device) SetAccess(at backend.Pointer, bytes uint64) error {
	const function = "cuMemSetAccess"
	if err := d.guard.Range(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.raw.SetAccess(uint64(at), bytes), function, at, bytes)
}
