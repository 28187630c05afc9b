//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// AllocManaged attaches the memory to every stream of every device.
func (d *openDevice) AllocManaged(bytes uint64) (backend.Pointer, error) {
	const function = "cuMemAllocManaged"
	if err := d.guard.Managed(function, bytes); err != nil {
		return 0, err
	}
	var pointer cu.DevicePtr
	err := d.within(func() (err error) {
		pointer, err = cu.MemAllocManaged(int64(bytes), cu.AttachGlobal)
		return err
	})
	if err != nil {
		return 0, callFailed(err, function, drivercall.Size(bytes))
	}
	return backend.Pointer(pointer), nil
}
