//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"syscall"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
)

// shared returns an error for a closed device and for one that cannot share memory.
func (d *openDevice) shared(function string) error {
	if err := d.virtual(function); err != nil {
		return err
	}
	if !d.sharesMemory {
		return lacks(function, "the device cannot share memory with other processes")
	}
	return nil
}

func (d *openDevice) PhysicalCreateShared(bytes uint64) (backend.Physical, error) {
	if err := d.shared("cuMemCreate"); err != nil {
		return 0, err
	}
	return d.createPhysical(bytes, true)
}

// PhysicalExport makes the same descriptor for both values of readOnly: the driver has
// no other kind.
func (d *openDevice) PhysicalExport(physical backend.Physical, _ bool) (int, error) {
	const function = "cuMemExportToShareableHandle"
	if err := d.shared(function); err != nil {
		return -1, err
	}
	if physical == 0 {
		return -1, refuse(function, "the handle is zero")
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
	if err := d.shared(function); err != nil {
		return 0, err
	}
	if descriptor < 0 || bytes == 0 {
		return 0, refuse(function, "the descriptor is %d, the bytes %d", descriptor, bytes)
	}
	physical, result := d.shim.PhysicalImport(descriptor)
	if result != shim.Success {
		return 0, failed(cuda.Code(result), function, "descriptor %d", descriptor)
	}
	return backend.Physical(physical), nil
}

func (d *openDevice) SetAccessReadOnly(at backend.Pointer, bytes uint64) error {
	const function = "cuMemSetAccess"
	if err := d.ranged(function, at, bytes); err != nil {
		return err
	}
	if err := d.shared(function); err != nil {
		return err
	}
	return rangeResult(d.shim.SetAccess(uint64(at), bytes, true), function, at, bytes)
}
