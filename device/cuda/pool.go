//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// poolMaximumSince is the CUDA version that gave pools a maximum. Older drivers require
// zeros in its place.
const poolMaximumSince = 12020

// findDefaultPool looks up the device's default pool once. A zero Pool means that pool,
// but cuMemAllocAsync uses the device's current pool, which any code in the process may
// have changed.
func (d *device) findDefaultPool() {
	supported, result := d.raw.Handle().Attribute(int32(backend.MemoryPoolsSupported))
	switch {
	case result == libcuda.Success && supported != 0:
		d.defaultPool, result = d.raw.Handle().DefaultPool()
		d.noPools = Code(result)
	case libcuda.Since("cuMemPoolCreate") > d.info.DriverVersion:
		d.noPools = CodeNeedsNewerDriver
	default:
		d.noPools = CodeNotSupported
	}
}

// pool returns the driver's pool for a Pool.
func (d *device) pool(pool backend.Pool, function string) (uintptr, error) {
	if err := d.open(function); err != nil {
		return 0, err
	}
	if d.noPools != CodeSuccess {
		err := failed(libcuda.Result(d.noPools), function, "")
		if err.detail == "" {
			err.detail = "the device has no stream-ordered memory pools: use Alloc and Free"
		}
		return 0, err
	}
	if pool == 0 {
		return d.defaultPool, nil
	}
	return uintptr(pool), nil
}

func (d *device) AllocAsync(bytes uint64, pool backend.Pool, stream backend.Stream) (backend.Pointer, error) {
	from, err := d.pool(pool, "cuMemAllocFromPoolAsync")
	if err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, refuse("cuMemAllocFromPoolAsync", "the bytes are zero")
	}
	pointer, result := d.raw.AllocAsync(bytes, from, uintptr(stream))
	if result != libcuda.Success {
		return 0, failed(result, "cuMemAllocFromPoolAsync", "%s", humanize.IBytes(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *device) FreeAsync(pointer backend.Pointer, stream backend.Stream) error {
	if _, err := d.pool(0, "cuMemFreeAsync"); err != nil {
		return err
	}
	if pointer == 0 {
		return refuse("cuMemFreeAsync", "the pointer is zero")
	}
	if result := d.raw.FreeAsync(uint64(pointer), uintptr(stream)); result != libcuda.Success {
		return failed(result, "cuMemFreeAsync", "%v", pointer)
	}
	return nil
}

func (d *device) PoolCreate(maximum uint64) (backend.Pool, error) {
	if _, err := d.pool(0, "cuMemPoolCreate"); err != nil {
		return 0, err
	}
	if maximum != 0 && d.info.DriverVersion < poolMaximumSince {
		err := failed(libcuda.TooOld, "cuMemPoolCreate", "maximum %s", humanize.IBytes(maximum))
		err.detail = "a pool with a maximum: " + needs(poolMaximumSince)
		return 0, err
	}
	pool, result := d.raw.PoolCreate(maximum)
	if result != libcuda.Success {
		return 0, failed(result, "cuMemPoolCreate", "maximum %s", humanize.IBytes(maximum))
	}
	return backend.Pool(pool), nil
}

func (d *device) PoolDestroy(pool backend.Pool) error {
	handle, err := d.pool(pool, "cuMemPoolDestroy")
	if err != nil {
		return err
	}
	if pool == 0 {
		return refuse("cuMemPoolDestroy", "the default pool cannot be destroyed")
	}
	return check(d.raw.PoolDestroy(handle), "cuMemPoolDestroy")
}

func (d *device) PoolTrim(pool backend.Pool, keep uint64) error {
	handle, err := d.pool(pool, "cuMemPoolTrimTo")
	if err != nil {
		return err
	}
	return check(d.raw.PoolTrim(handle, keep), "cuMemPoolTrimTo")
}

func (d *device) PoolAttribute(pool backend.Pool, attribute backend.PoolAttribute) (uint64, error) {
	handle, err := d.pool(pool, "cuMemPoolGetAttribute")
	if err != nil {
		return 0, err
	}
	value, result := d.raw.PoolAttribute(handle, int32(attribute))
	if result != libcuda.Success {
		return 0, failed(result, "cuMemPoolGetAttribute", "attribute %d", attribute)
	}
	return value, nil
}

func (d *device) PoolSetAttribute(pool backend.Pool, attribute backend.PoolAttribute, value uint64) error {
	handle, err := d.pool(pool, "cuMemPoolSetAttribute")
	if err != nil {
		return err
	}
	if result := d.raw.PoolSetAttribute(handle, int32(attribute), value); result != libcuda.Success {
		return failed(result, "cuMemPoolSetAttribute", "attribute %d, value %d", attribute, value)
	}
	return nil
}
