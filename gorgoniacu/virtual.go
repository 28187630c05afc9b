//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
)

// virtual returns an error for a closed device and for one that cannot map memory.
func (d *openDevice) virtual(function string) error {
	if err := d.open(function); err != nil {
		return err
	}
	if !d.mapsMemory {
		return lacks(function, "the device has no virtual memory management: use Alloc and Free")
	}
	return nil
}

// ranged is virtual with a check of the range of addresses.
func (d *openDevice) ranged(function string, at backend.Pointer, bytes uint64) error {
	if err := d.virtual(function); err != nil {
		return err
	}
	if at == 0 || bytes == 0 {
		return refuse(function, "the address or the bytes are zero")
	}
	return nil
}

// rangeResult is checkResult for calls with a range of addresses, which its error
// names.
func rangeResult(result shim.Result, function string, at backend.Pointer, bytes uint64) error {
	if result != shim.Success {
		return failed(cuda.Code(result), function, "%s at %v", humanize.IBytes(bytes), at)
	}
	return nil
}

func (d *openDevice) AddressReserve(bytes, alignment uint64) (backend.Pointer, error) {
	const function = "cuMemAddressReserve"
	if err := d.virtual(function); err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, refuse(function, "the bytes are zero")
	}
	pointer, result := d.shim.AddressReserve(bytes, alignment)
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, "%s, alignment %d", humanize.IBytes(bytes), alignment)
	}
	return backend.Pointer(pointer), nil
}

func (d *openDevice) AddressFree(pointer backend.Pointer, bytes uint64) error {
	const function = "cuMemAddressFree"
	if err := d.ranged(function, pointer, bytes); err != nil {
		return err
	}
	return rangeResult(d.shim.AddressFree(uint64(pointer), bytes), function, pointer, bytes)
}

func (d *openDevice) PhysicalGranularity() (uint64, error) {
	const function = "cuMemGetAllocationGranularity"
	if err := d.virtual(function); err != nil {
		return 0, err
	}
	minimum, recommended, result := d.shim.PhysicalGranularity()
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, "")
	}
	if minimum != 0 && recommended%minimum != 0 {
		return minimum, nil
	}
	return recommended, nil
}

func (d *openDevice) PhysicalCreate(bytes uint64) (backend.Physical, error) {
	if err := d.virtual("cuMemCreate"); err != nil {
		return 0, err
	}
	return d.createPhysical(bytes, false)
}

func (d *openDevice) createPhysical(bytes uint64, shared bool) (backend.Physical, error) {
	const function = "cuMemCreate"
	if bytes == 0 {
		return 0, refuse(function, "the bytes are zero")
	}
	physical, result := d.shim.PhysicalCreate(bytes, shared)
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, "%s, shared: %t", humanize.IBytes(bytes), shared)
	}
	return backend.Physical(physical), nil
}

func (d *openDevice) PhysicalRelease(physical backend.Physical) error {
	const function = "cuMemRelease"
	if err := d.virtual(function); err != nil {
		return err
	}
	if physical == 0 {
		return refuse(function, "the handle is zero")
	}
	return checkResult(d.shim.PhysicalRelease(uint64(physical)), function)
}

func (d *openDevice) Map(at backend.Pointer, bytes, offset uint64, physical backend.Physical) error {
	const function = "cuMemMap"
	if err := d.ranged(function, at, bytes); err != nil {
		return err
	}
	if physical == 0 {
		return refuse(function, "the handle is zero")
	}
	return rangeResult(d.shim.Map(uint64(at), bytes, offset, uint64(physical)), function, at, bytes)
}

func (d *openDevice) Unmap(at backend.Pointer, bytes uint64) error {
	const function = "cuMemUnmap"
	if err := d.ranged(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.shim.Unmap(uint64(at), bytes), function, at, bytes)
}

func (d *openDevice) SetAccess(at backend.Pointer, bytes uint64) error {
	const function = "cuMemSetAccess"
	if err := d.ranged(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.shim.SetAccess(uint64(at), bytes, false), function, at, bytes)
}
