//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// virtual returns an error for a closed device and for one that cannot map memory.
func (d *device) virtual(function string) error {
	if err := d.open(function); err != nil {
		return err
	}
	if !d.mapsMemory {
		return lacks(function, "the device has no virtual memory management: use Alloc and Free")
	}
	return nil
}

// ranged is virtual with a check of the range of addresses.
func (d *device) ranged(function string, at backend.Pointer, bytes uint64) error {
	if err := d.virtual(function); err != nil {
		return err
	}
	if at == 0 || bytes == 0 {
		return refuse(function, "the address or the bytes are zero")
	}
	return nil
}

// rangeResult is check for calls with a range of addresses, which its error names.
func rangeResult(result libcuda.Result, function string, at backend.Pointer, bytes uint64) error {
	if result != libcuda.Success {
		return failed(result, function, "%s at %v", humanize.IBytes(bytes), at)
	}
	return nil
}

func (d *device) AddressReserve(bytes, alignment uint64) (backend.Pointer, error) {
	const function = "cuMemAddressReserve"
	if err := d.virtual(function); err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, refuse(function, "the bytes are zero")
	}
	pointer, result := d.raw.AddressReserve(bytes, alignment)
	if result != libcuda.Success {
		return 0, failed(result, function, "%s, alignment %d", humanize.IBytes(bytes), alignment)
	}
	return backend.Pointer(pointer), nil
}

func (d *device) AddressFree(pointer backend.Pointer, bytes uint64) error {
	const function = "cuMemAddressFree"
	if err := d.ranged(function, pointer, bytes); err != nil {
		return err
	}
	return rangeResult(d.raw.AddressFree(uint64(pointer), bytes), function, pointer, bytes)
}

func (d *device) PhysicalGranularity() (uint64, error) {
	const function = "cuMemGetAllocationGranularity"
	if err := d.virtual(function); err != nil {
		return 0, err
	}
	minimum, recommended, result := d.raw.PhysicalGranularity()
	if result != libcuda.Success {
		return 0, failed(result, function, "")
	}
	if minimum != 0 && recommended%minimum != 0 {
		return minimum, nil
	}
	return recommended, nil
}

func (d *device) PhysicalCreate(bytes uint64) (backend.Physical, error) {
	const function = "cuMemCreate"
	if err := d.virtual(function); err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, refuse(function, "the bytes are zero")
	}
	physical, result := d.raw.PhysicalCreate(bytes)
	if result != libcuda.Success {
		return 0, failed(result, function, "%s", humanize.IBytes(bytes))
	}
	return backend.Physical(physical), nil
}

func (d *device) PhysicalRelease(physical backend.Physical) error {
	const function = "cuMemRelease"
	if err := d.virtual(function); err != nil {
		return err
	}
	if physical == 0 {
		return refuse(function, "the handle is zero")
	}
	return check(d.raw.PhysicalRelease(uint64(physical)), function)
}

func (d *device) Map(at backend.Pointer, bytes, offset uint64, physical backend.Physical) error {
	const function = "cuMemMap"
	if err := d.ranged(function, at, bytes); err != nil {
		return err
	}
	if physical == 0 {
		return refuse(function, "the handle is zero")
	}
	return rangeResult(d.raw.Map(uint64(at), bytes, offset, uint64(physical)), function, at, bytes)
}

func (d *device) Unmap(at backend.Pointer, bytes uint64) error {
	const function = "cuMemUnmap"
	if err := d.ranged(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.raw.Unmap(uint64(at), bytes), function, at, bytes)
}

func (d *device) SetAccess(at backend.Pointer, bytes uint64) error {
	const function = "cuMemSetAccess"
	if err := d.ranged(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.raw.SetAccess(uint64(at), bytes), function, at, bytes)
}
