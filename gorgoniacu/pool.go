//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
)

// poolMaximumSince is the CUDA version that gave pools a maximum. Older drivers require
// zeros in its place.
const poolMaximumSince = 12020

// findDefaultPool looks up the device's default pool once. A zero Pool means that pool,
// but cuMemAllocAsync uses the device's current pool, which any code in the process may
// have changed.
func (d *openDevice) findDefaultPool() {
	if !d.has(backend.MemoryPoolsSupported) {
		d.noPools = cuda.CodeNotSupported
		return
	}
	pool, result := shim.DefaultPool(int(d.handle))
	d.defaultPool, d.noPools = pool, cuda.Code(result)
}

// pool returns the driver's pool for a Pool.
func (d *openDevice) pool(pool backend.Pool, function string) (uintptr, error) {
	if err := d.open(function); err != nil {
		return 0, err
	}
	if d.noPools != cuda.CodeSuccess {
		return 0, fmt.Errorf("%w: the device has no stream-ordered memory pools: use Alloc and Free", failed(d.noPools, function, ""))
	}
	if pool == 0 {
		return d.defaultPool, nil
	}
	return uintptr(pool), nil
}

func (d *openDevice) AllocAsync(bytes uint64, pool backend.Pool, stream backend.Stream) (backend.Pointer, error) {
	const function = "cuMemAllocFromPoolAsync"
	from, err := d.pool(pool, function)
	if err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, refuse(function, "the bytes are zero")
	}
	pointer, result := d.shim.AllocAsync(bytes, from, uintptr(stream))
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, "%s", humanize.IBytes(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *openDevice) FreeAsync(pointer backend.Pointer, stream backend.Stream) error {
	if _, err := d.pool(0, "cuMemFreeAsync"); err != nil {
		return err
	}
	if pointer == 0 {
		return refuse("cuMemFreeAsync", "the pointer is zero")
	}
	if result := d.shim.FreeAsync(uint64(pointer), uintptr(stream)); result != shim.Success {
		return failed(cuda.Code(result), "cuMemFreeAsync", "%v", pointer)
	}
	return nil
}

func (d *openDevice) PoolCreate(maximum uint64) (backend.Pool, error) {
	const function = "cuMemPoolCreate"
	if _, err := d.pool(0, function); err != nil {
		return 0, err
	}
	if maximum != 0 && d.info.DriverVersion < poolMaximumSince {
		return 0, fmt.Errorf("%w: a pool with a maximum: it needs a driver for CUDA 12.2 or newer",
			failed(cuda.CodeNeedsNewerDriver, function, "maximum %s", humanize.IBytes(maximum)))
	}
	pool, result := d.shim.PoolCreate(maximum)
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, "maximum %s", humanize.IBytes(maximum))
	}
	return backend.Pool(pool), nil
}

func (d *openDevice) PoolDestroy(pool backend.Pool) error {
	handle, err := d.pool(pool, "cuMemPoolDestroy")
	if err != nil {
		return err
	}
	if pool == 0 {
		return refuse("cuMemPoolDestroy", "the default pool cannot be destroyed")
	}
	return checkResult(d.shim.PoolDestroy(handle), "cuMemPoolDestroy")
}

func (d *openDevice) PoolTrim(pool backend.Pool, keep uint64) error {
	handle, err := d.pool(pool, "cuMemPoolTrimTo")
	if err != nil {
		return err
	}
	return checkResult(d.shim.PoolTrim(handle, keep), "cuMemPoolTrimTo")
}

func (d *openDevice) PoolAttribute(pool backend.Pool, attribute backend.PoolAttribute) (uint64, error) {
	handle, err := d.pool(pool, "cuMemPoolGetAttribute")
	if err != nil {
		return 0, err
	}
	value, result := d.shim.PoolAttribute(handle, int32(attribute))
	if result != shim.Success {
		return 0, failed(cuda.Code(result), "cuMemPoolGetAttribute", "attribute %d", attribute)
	}
	return value, nil
}

func (d *openDevice) PoolSetAttribute(pool backend.Pool, attribute backend.PoolAttribute, value uint64) error {
	handle, err := d.pool(pool, "cuMemPoolSetAttribute")
	if err != nil {
		return err
	}
	if result := d.shim.PoolSetAttribute(handle, int32(attribute), value); result != shim.Success {
		return failed(cuda.Code(result), "cuMemPoolSetAttribute", "attribute %d, value %d", attribute, value)
	}
	return nil
}
