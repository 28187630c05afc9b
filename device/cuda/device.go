//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// device is a GPU with a retained primary context. Its methods add to the driver's
// operations only the cases that the driver leaves undefined: a check that the device
// is open, and errors for arguments on which the driver may crash.
type device struct {
	raw    libcuda.Device
	info   backend.Info
	closed atomic.Bool
	peers  peers

	// defaultPool is zero if the device has no pools; noPools is then the reason.
	defaultPool uintptr
	noPools     Code

	// The values of the attributes of the same names.
	mapsMemory, sharesMemory, hasManaged, prefetches bool
}

var _ backend.Device = (*device)(nil)

func (d *device) Info() backend.Info { return d.info }

func (d *device) MemoryInfo() (free, total uint64, err error) {
	if err := d.open("cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	free, total, result := d.raw.MemoryInfo()
	return free, total, check(result, "cuMemGetInfo")
}

func (d *device) Attribute(attribute backend.Attribute) (int, error) {
	if err := d.open("cuDeviceGetAttribute"); err != nil {
		return 0, err
	}
	value, result := d.raw.Handle().Attribute(int32(attribute))
	if result != libcuda.Success {
		return 0, failed(result, "cuDeviceGetAttribute", "%d", attribute)
	}
	return value, nil
}

func (d *device) Synchronize() error {
	if err := d.open("cuCtxSynchronize"); err != nil {
		return err
	}
	return check(d.raw.Synchronize(), "cuCtxSynchronize")
}

// Close releases the primary contexts of the device and of the peers it has used.
// Enqueued work continues while something else in the process retains the context.
func (d *device) Close() error {
	if d.closed.Swap(true) {
		return d.alreadyClosed("Close")
	}
	return errors.Join(
		d.peers.release(),
		check(d.raw.Release(), "cuDevicePrimaryCtxRelease"),
	)
}
