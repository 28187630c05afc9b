//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"syscall"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

func (d *device) PhysicalCreateShared(bytes uint64) (backend.Physical, error) {
	const function = "cuMemCreate"
	if err := d.guard.SharedBytes(function, bytes); err != nil {
		return 0, err
	}
	physical, result := d.raw.PhysicalCreateShared(bytes)
	if result != libcuda.Success {
		return 0, failed(result, function, drivercall.ToShare(bytes))
	}
	return backend.Physical(physical), nil
}

// PhysicalExport makes the same descriptor for both values of readOnly: the driver has
// no other kind.
func (d *device) PhysicalExport(physical backend.Physical, _ bool) (int, error) {
	const function = "cuMemExportToShareableHandle"
	if err := d.guard.Export(function, physical); err != nil {
		return -1, err
	}
	// The driver may make descriptors that a new program inherits, so no program is
	// started meanwhile.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	descriptor, result := d.raw.PhysicalExport(uint64(physical))
	if result != libcuda.Success {
		return -1, failed(result, function, "")
	}
	syscall.CloseOnExec(descriptor)
	return descriptor, nil
}

// PhysicalImport leaves the check of bytes to Map: the driver's import takes no size.
func (d *device) PhysicalImport(descriptor int, bytes uint64) (backend.Physical, error) {
	const function = "cuMemImportFromShareableHandle"
	if err := d.guard.Import(function, descriptor, bytes); err != nil {
		return 0, err
	}
	physical, result := d.raw.PhysicalImport(descriptor)
	if result != libcuda.Success {
		return 0, failed(result, function, drivercall.Descriptor(descriptor))
	}
	return backend.Physical(physical), nil
}

func (d *device) SetAccessReadOnly(at backend.Pointer, bytes uint64) error {
	const function = "cuMemSetAccess"
	if err := d.guard.SharedRange(function, at, bytes); err != nil {
		return err
	}
	if result := d.raw.SetAccessReadOnly(uint64(at), bytes); result != libcuda.Success {
		return failed(result, function, drivercall.ForReading(at, bytes))
	}
	return nil
}
