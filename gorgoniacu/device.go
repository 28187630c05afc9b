//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"
	"runtime"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// openDevice is a GPU with a retained primary context. Its methods are the operations
// that use the binding. They add only the cases that the driver leaves undefined: a
// check that the device is open, and errors for arguments on which the driver may crash.
type openDevice struct {
	// Device is the same GPU, opened by package device/cuda. It has all other operations.
	backend.Device

	handle  cu.Device
	context cu.CUContext
	guard   drivercall.Guard
}

var _ backend.Device = (*openDevice)(nil)

// within calls the binding with the device's context current and restores the thread's
// context. The binding's calls act on the thread, so the goroutine is locked to it
// meanwhile.
func (d *openDevice) within(call func() error) error { return within(d.context, int(d.handle), call) }

// within leaves the context of device 0 on a thread that had none, as package
// device/cuda does: the CUDA runtime would give the thread the same one.
func within(context cu.CUContext, ordinal int, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	previous, err := cu.CurrentContext()
	if err != nil {
		return err
	}
	if previous != context {
		if err := cu.SetCurrentContext(context); err != nil {
			return err
		}
		if ordinal != 0 || previous != (cu.CUContext{}) {
			// A failure cannot be handled; the caller needs the operation's result.
			defer func() { _ = cu.SetCurrentContext(previous) }()
		}
	}
	return call()
}

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
	return closed(d.Device, check(d.handle.ReleasePrimaryCtx(), "cuDevicePrimaryCtxRelease"))
}

// closed closes a device and joins the error to the one before.
func closed(d backend.Device, err error) error { return errors.Join(err, d.Close()) }
