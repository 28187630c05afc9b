//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

func (d *device) AllocManaged(bytes uint64) (backend.Pointer, error) {
	const function = "cuMemAllocManaged"
	if err := d.guard.Managed(function, bytes); err != nil {
		return 0, err
	}
	pointer, result := d.raw.AllocManaged(bytes)
	if result != libcuda.Success {
		return 0, failed(result, function, drivercall.Size(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *device) PrefetchAsync(pointer backend.Pointer, bytes uint64, toHost bool, stream backend.Stream) error {
	const function = "cuMemPrefetchAsync"
	if err := d.guard.Prefetch(function, pointer, bytes); err != nil {
		return err
	}
	if result := d.raw.PrefetchAsync(uint64(pointer), bytes, toHost, uintptr(stream)); result != libcuda.Success {
		return failed(result, function, drivercall.At(pointer, bytes))
	}
	return nil
}
