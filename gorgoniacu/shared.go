//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"syscall"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

func (d *openDevice) PhysicalCreateShared(bytes uint64) (backend.Physical, error) {
	if err := d.guard.SharedBytes("cuMemCreate", bytes); err != nil {
		return 0, err
	}
	return d.createPhysical(bytes, true)
}

// PhysicalExport makes the same descriptor for both values of readOnly: the driver has
// no other kind.
func (d *openDevice) PhysicalExport(physical backend.Physical, _ bool) (int, error) {
	const function = "cuMemExportToShareableHandle"
	if err := d.guard.Export(function, physical); err != nil {
		return -1, err
	}
	// The driver may make descriptors that a new program inherits, so no program is
	// started meanwhile.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	descriptor, result := d.shim.PhysicalExport(uint64(physical))
	if result != shim.Success {
		return -1, failed(cuda.Code(result), function, "")
	}
	syscall.CloseOnExec(descriptor)
	return descriptor, nil
}

// PhysicalImport leaves the check of bytes to Map: the driver's import takes no size.
func (d *openDevice) PhysicalImport(descriptor int, bytes uint64) (backend.Physical, error) {
	const function = "cuMemImportFromShareableHandle"
	if err := d.guard.Import(function, descriptor, bytes); err != nil {
		return 0, err
	}
	physical, result := d.shim.PhysicalImport(descriptor)
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, drivercall.Descriptor(descriptor))
	}
	return backend.Physical(physical), nil
}

func (d *openDevice) SetAccessReadOnly(at backend.Pointer, bytes uint64) error {
	const function = "cuMemSetAccess"
	if err := d.guard.SharedRange(function, at, bytes); err != nil {
		return err
	}
	return rangeResult(d.shim.SetAccess(uint64(at), bytes, true), function, at, bytes)
}
