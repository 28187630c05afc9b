//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// Driver is the backend. The zero value is ready; its methods are safe for concurrent
// use.
type Driver struct{}

var _ backend.Driver = Driver{}

// Devices describes the GPUs that the driver shows this process, which
// CUDA_VISIBLE_DEVICES may limit. It makes no context and takes no device memory.
func (Driver) Devices() ([]backend.Info, error) { return cuda.Driver{}.Devices() }

// Open retains the primary context of a GPU. If nothing in the process has created it
// yet, Open creates it, which takes tenths of a second and some hundred megabytes of
// device memory. The error wraps [backend.ErrNoDevice] if no device has that number.
func (Driver) Open(ordinal int) (backend.Device, error) {
	base, err := cuda.Driver{}.Open(ordinal)
	if err != nil {
		return nil, err
	}
	handle, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, closed(base, callFailed(err, "cuDeviceGet", drivercall.Device(ordinal)))
	}
	context, err := handle.RetainPrimaryCtx()
	if err != nil {
		return nil, closed(base, callFailed(err, "cuDevicePrimaryCtxRetain", drivercall.Device(ordinal)))
	}
	d := &openDevice{
		Device: base, handle: handle, context: context,
		guard: drivercall.Guard{Backend: Name, Info: base.Info(), LeastHandle: leastPointer, Failed: refused},
	}
	d.guard.ReadProperties(d.has)
	return d, nil
}
