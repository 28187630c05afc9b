//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"strconv"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// device is a GPU with a retained primary context. Its methods add to the driver's
// operations only the cases that the driver leaves undefined: a check that the device
// is open, and errors for arguments on which the driver may crash.
type device struct {
	raw   libcuda.Device
	guard drivercall.Guard
	peers *drivercall.Peers[libcuda.Device]
}

var _ backend.Device = (*device)(nil)

func (d *device) Info() backend.Info { return d.guard.Info }

func (d *device) MemoryInfo() (free, total uint64, err error) {
	if err := d.guard.Open("cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	free, total, result := d.raw.MemoryInfo()
	return free, total, check(result, "cuMemGetInfo")
}

func (d *device) Attribute(attribute backend.Attribute) (int, error) {
	if err := d.guard.Open("cuDeviceGetAttribute"); err != nil {
		return 0, err
	}
	value, result := d.raw.Handle().Attribute(int32(attribute))
	if result != libcuda.Success {
		return 0, failed(result, "cuDeviceGetAttribute", strconv.Itoa(int(attribute)))
	}
	return value, nil
}

func (d *device) Synchronize() error {
	if err := d.guard.Open("cuCtxSynchronize"); err != nil {
		return err
	}
	return check(d.raw.Synchronize(), "cuCtxSynchronize")
}

// Close releases the primary contexts of the device and of the peers it has used.
// Enqueued work continues while something else in the process retains the context.
func (d *device) Close() error {
	if err := d.guard.Close(); err != nil {
		return err
	}
	var errs []error
	d.peers.Release(func(peer *libcuda.Device) {
		errs = append(errs, check(peer.Release(), "cuDevicePrimaryCtxRelease"))
	})
	return errors.Join(append(errs, check(d.raw.Release(), "cuDevicePrimaryCtxRelease"))...)
}
