//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

func (d *device) AllocAsync(bytes uint64, pool backend.Pool, stream backend.Stream) (backend.Pointer, error) {
	from, err := d.guard.PoolBytes("cuMemAllocFromPoolAsync", pool, bytes)
	if err != nil {
		return 0, err
	}
	pointer, result := d.raw.AllocAsync(bytes, from, uintptr(stream))
	if result != libcuda.Success {
		return 0, failed(result, "cuMemAllocFromPoolAsync", drivercall.Size(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *device) FreeAsync(pointer backend.Pointer, stream backend.Stream) error {
	if err := d.guard.PoolPointer("cuMemFreeAsync", pointer); err != nil {
		return err
	}
	if result := d.raw.FreeAsync(uint64(pointer), uintptr(stream)); result != libcuda.Success {
		return failed(result, "cuMemFreeAsync", pointer.String())
	}
	return nil
}

func (d *device) PoolCreate(maximum uint64) (backend.Pool, error) {
	if err := d.guard.PoolMaximum("cuMemPoolCreate", maximum); err != nil {
		return 0, err
	}
	pool, result := d.raw.PoolCreate(maximum)
	if result != libcuda.Success {
		return 0, failed(result, "cuMemPoolCreate", drivercall.PoolMaximum(maximum))
	}
	return backend.Pool(pool), nil
}

func (d *device) PoolDestroy(pool backend.Pool) error {
	handle, err := d.guard.OwnPool("cuMemPoolDestroy", pool)
	if err != nil {
		return err
	}
	return check(d.raw.PoolDestroy(handle), "cuMemPoolDestroy")
}

func (d *device) PoolTrim(pool backend.Pool, keep uint64) error {
	handle, err := d.guard.Pool("cuMemPoolTrimTo", pool)
	if err != nil {
		return err
	}
	return check(d.raw.PoolTrim(handle, keep), "cuMemPoolTrimTo")
}

func (d *device) PoolAttribute(pool backend.Pool, attribute backend.PoolAttribute) (uint64, error) {
	handle, err := d.guard.Pool("cuMemPoolGetAttribute", pool)
	if err != nil {
		return 0, err
	}
	value, result := d.raw.PoolAttribute(handle, int32(attribute))
	if result != libcuda.Success {
		return 0, failed(result, "cuMemPoolGetAttribute", drivercall.Attribute(attribute))
	}
	return value, nil
}

func (d *device) PoolSetAttribute(pool backend.Pool, attribute backend.PoolAttribute, value uint64) error {
	handle, err := d.guard.Pool("cuMemPoolSetAttribute", pool)
	if err != nil {
		return err
	}
	if result := d.raw.PoolSetAttribute(handle, int32(attribute), value); result != libcuda.Success {
		return failed(result, "cuMemPoolSetAttribute", drivercall.Setting(attribute, value))
	}
	return nil
}
