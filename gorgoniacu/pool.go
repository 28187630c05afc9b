//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

func (d *openDevice) AllocAsync(bytes uint64, pool backend.Pool, stream backend.Stream) (backend.Pointer, error) {
	const function = "cuMemAllocFromPoolAsync"
	from, err := d.guard.PoolBytes(function, pool, bytes)
	if err != nil {
		return 0, err
	}
	pointer, result := d.shim.AllocAsync(bytes, from, uintptr(stream))
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, drivercall.Size(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *openDevice) FreeAsync(pointer backend.Pointer, stream backend.Stream) error {
	if err := d.guard.PoolPointer("cuMemFreeAsync", pointer); err != nil {
		return err
	}
	if result := d.shim.FreeAsync(uint64(pointer), uintptr(stream)); result != shim.Success {
		return failed(cuda.Code(result), "cuMemFreeAsync", pointer.String())
	}
	return nil
}

func (d *openDevice) PoolCreate(maximum uint64) (backend.Pool, error) {
	const function = "cuMemPoolCreate"
	if err := d.guard.PoolMaximum(function, maximum); err != nil {
		return 0, err
	}
	pool, result := d.shim.PoolCreate(maximum)
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, drivercall.PoolMaximum(maximum))
	}
	return backend.Pool(pool), nil
}

func (d *openDevice) PoolDestroy(pool backend.Pool) error {
	handle, err := d.guard.OwnPool("cuMemPoolDestroy", pool)
	if err != nil {
		return err
	}
	return checkResult(d.shim.PoolDestroy(handle), "cuMemPoolDestroy")
}

func (d *openDevice) PoolTrim(pool backend.Pool, keep uint64) error {
	handle, err := d.guard.Pool("cuMemPoolTrimTo", pool)
	if err != nil {
		return err
	}
	return checkResult(d.shim.PoolTrim(handle, keep), "cuMemPoolTrimTo")
}

func (d *openDevice) PoolAttribute(pool backend.Pool, attribute backend.PoolAttribute) (uint64, error) {
	handle, err := d.guard.Pool("cuMemPoolGetAttribute", pool)
	if err != nil {
		return 0, err
	}
	value, result := d.shim.PoolAttribute(handle, int32(attribute))
	if result != shim.Success {
		return 0, failed(cuda.Code(result), "cuMemPoolGetAttribute", drivercall.Attribute(attribute))
	}
	return value, nil
}

func (d *openDevice) PoolSetAttribute(pool backend.Pool, attribute backend.PoolAttribute, value uint64) error {
	handle, err := d.guard.Pool("cuMemPoolSetAttribute", pool)
	if err != nil {
		return err
	}
	if result := d.shim.PoolSetAttribute(handle, int32(attribute), value); result != shim.Success {
		return failed(cuda.Code(result), "cuMemPoolSetAttribute", drivercall.Setting(attribute, value))
	}
	return nil
}
