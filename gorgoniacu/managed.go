//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"github.com/dustin/go-humanize"
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
)

// AllocManaged attaches the memory to every stream of every device.
func (d *openDevice) AllocManaged(bytes uint64) (backend.Pointer, error) {
	const function = "cuMemAllocManaged"
	if err := d.open(function); err != nil {
		return 0, err
	}
	if !d.hasManaged {
		return 0, lacks(function, "the device has no managed memory: use Alloc")
	}
	if bytes == 0 {
		return 0, refuse(function, "the bytes are zero")
	}
	var pointer cu.DevicePtr
	err := d.within(func() (err error) {
		pointer, err = cu.MemAllocManaged(int64(bytes), cu.AttachGlobal)
		return err
	})
	if err != nil {
		return 0, callFailed(err, function, "%s", humanize.IBytes(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *openDevice) PrefetchAsync(pointer backend.Pointer, bytes uint64, toHost bool, stream backend.Stream) error {
	const function = "cuMemPrefetchAsync"
	if err := d.open(function); err != nil {
		return err
	}
	if !d.prefetches {
		return lacks(function, "the device cannot share managed memory with the processor while it has work")
	}
	if pointer == 0 || bytes == 0 {
		return refuse(function, "the pointer or the bytes are zero")
	}
	if result := d.shim.PrefetchAsync(uint64(pointer), bytes, toHost, uintptr(stream)); result != shim.Success {
		return failed(cuda.Code(result), function, "%s at %v", humanize.IBytes(bytes), pointer)
	}
	return nil
}
