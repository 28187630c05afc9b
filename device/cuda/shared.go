//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// shared returns an error for a closed device and for one that cannot share memory.
func (d *device) shared(function string) error {
	if err := d.virtual(function); err != nil {
		return err
	}
	if !d.sharesMemory {
		return lacks(function, "the device cannot share memory with other processes")
	}
	return nil
}

func (d *device) PhysicalCreateShared(bytes uint64) (backend.Physical, error) {
	const function = "cuMemCreate"
	if err := d.shared(function); err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, refuse(function, "the bytes are zero")
	}
	physical, result := d.raw.PhysicalCreateShared(bytes)
	if result != libcuda.Success {
		return 0, failed(result, function, "%s to share", humanize.IBytes(bytes))
	}
	return backend.Physical(physical), nil
}

// PhysicalExport makes the same descriptor for both values of readOnly: the driver has
// no other kind.
func (d *device) PhysicalExport(physical backend.Physical, _ bool) (int, error) {
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
	if err := d.shared(function); err != nil {
		return 0, err
	}
	if descriptor < 0 || bytes == 0 {
		return 0, refuse(function, "the descriptor is %d, the bytes %d", descriptor, bytes)
	}
	physical, result := d.raw.PhysicalImport(descriptor)
	if result != libcuda.Success {
		return 0, failed(result, function, "descriptor %d", descriptor)
	}
	return backend.Physical(physical), nil
}

func (d *device) SetAccessReadOnly(at backend.Pointer, bytes uint64) error {
	const function = "cuMemSetAccess"
	if err := d.ranged(function, at, bytes); err != nil {
		return err
	}
	if err := d.shared(function); err != nil {
		return err
	}
	if result := d.raw.SetAccessReadOnly(uint64(at), bytes); result != libcuda.Success {
		return failed(result, function, "%s at %v, for reading", humanize.IBytes(bytes), at)
	}
	return nil
}
