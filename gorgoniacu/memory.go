//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// The binding takes sizes as int64 and converts them to size_t: the same bits.

func (d *openDevice) Alloc(bytes uint64) (backend.Pointer, error) {
	if err := d.guard.Bytes("cuMemAlloc", bytes); err != nil {
		return 0, err
	}
	var pointer cu.DevicePtr
	err := d.within(func() (err error) {
		pointer, err = cu.MemAlloc(int64(bytes))
		return err
	})
	if err != nil {
		return 0, callFailed(err, "cuMemAlloc", drivercall.Size(bytes))
	}
	return backend.Pointer(pointer), nil
}

func (d *openDevice) Free(pointer backend.Pointer) error {
	if err := d.guard.Pointer("cuMemFree", pointer); err != nil {
		return err
	}
	if err := d.within(func() error { return cu.MemFree(cu.DevicePtr(pointer)) }); err != nil {
		return callFailed(err, "cuMemFree", pointer.String())
	}
	return nil
}

func (d *openDevice) AddressRange(pointer backend.Pointer) (base backend.Pointer, bytes uint64, err error) {
	const function = "cuMemGetAddressRange"
	if err := d.guard.Pointer(function, pointer); err != nil {
		return 0, 0, err
	}
	err = d.within(func() error {
		size, start, err := cu.DevicePtr(pointer).AddressRange()
		base, bytes = backend.Pointer(start), uint64(size)
		return err
	})
	switch {
	case err == nil:
		return base, bytes, nil
	case code(err) == cuda.CodeNotFound:
		return 0, 0, refused(drivercall.Call(function, pointer.String()), int32(cuda.CodeInvalidValue), drivercall.NotInAllocation)
	}
	return 0, 0, callFailed(err, function, pointer.String())
}
