//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"
	"runtime"
	"strconv"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// openDevice is a GPU with a retained primary context. Its methods add to the driver's
// operations only the cases that the driver leaves undefined: a check that the device
// is open, and errors for arguments on which the driver may crash.
type openDevice struct {
	handle  cu.Device
	context cu.CUContext
	shim    shim.Device
	guard   drivercall.Guard
	peers   *drivercall.Peers[peer]
}

var _ backend.Device = (*openDevice)(nil)

// within calls the binding with the device's context current and restores the thread's
// context. The binding's calls act on the thread, so the goroutine is locked to it
// meanwhile.
func (d *openDevice) within(call func() error) error { return within(d.shim, call) }

func within(d shim.Device, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	previous, result := d.Enter()
	if result != shim.Success {
		return cuda.Code(result)
	}
	defer d.Leave(previous)
	return call()
}

func (d *openDevice) Info() backend.Info { return d.guard.Info }

func (d *openDevice) MemoryInfo() (free, total uint64, err error) {
	if err := d.guard.Open("cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	err = d.within(func() error {
		signedFree, signedTotal, err := cu.MemInfo()
		free, total = uint64(signedFree), uint64(signedTotal)
		return err
	})
	return free, total, check(err, "cuMemGetInfo")
}

func (d *openDevice) Attribute(attribute backend.Attribute) (int, error) {
	if err := d.guard.Open("cuDeviceGetAttribute"); err != nil {
		return 0, err
	}
	value, err := d.handle.Attribute(cu.DeviceAttribute(attribute))
	if err != nil {
		return 0, callFailed(err, "cuDeviceGetAttribute", strconv.Itoa(int(attribute)))
	}
	return value, nil
}

// has reads an attribute that is 0 or 1. A driver that does not know the attribute does
// not have the property either.
func (d *openDevice) has(attribute backend.Attribute) bool {
	value, err := d.handle.Attribute(cu.DeviceAttribute(attribute))
	return err == nil && value != 0
}

func (d *openDevice) Synchronize() error {
	if err := d.guard.Open("cuCtxSynchronize"); err != nil {
		return err
	}
	return check(d.within(cu.Synchronize), "cuCtxSynchronize")
}

// Close releases the primary contexts of the device and of the peers it has used.
// Enqueued work continues while something else in the process retains the context.
func (d *openDevice) Close() error {
	if err := d.guard.Close(); err != nil {
		return err
	}
	var errs []error
	d.peers.Release(func(p *peer) {
		errs = append(errs, check(p.handle.ReleasePrimaryCtx(), "cuDevicePrimaryCtxRelease"))
	})
	return errors.Join(append(errs, check(d.handle.ReleasePrimaryCtx(), "cuDevicePrimaryCtxRelease"))...)
}
