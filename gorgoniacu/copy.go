//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// synchronized calls the binding and then waits for the default stream. The driver's
// synchronous fills and copies on the device may return before they are done, and
// streams made here do not wait for the default stream.
func (d *openDevice) synchronized(call func() error, function string, bytes uint64) error {
	err := d.within(func() error {
		if err := call(); err != nil {
			return err
		}
		return cu.NoStream.Synchronize()
	})
	if err != nil {
		return callFailed(err, function, drivercall.Size(bytes))
	}
	return nil
}

func (d *openDevice) CopyOnDevice(destination, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return d.synchronized(func() error {
		return cu.MemcpyDtoD(cu.DevicePtr(destination), cu.DevicePtr(source), int64(bytes))
	}, "cuMemcpyDtoD", bytes)
}

func (d *openDevice) Memset(destination backend.Pointer, value uint32, width int, count uint64) error {
	if proceed, err := d.guard.Fill("cuMemset", destination, width, count); !proceed {
		return err
	}
	to, values := cu.DevicePtr(destination), int64(count)
	return d.synchronized(func() error {
		switch width {
		case 1:
			return cu.MemsetD8(to, byte(value), values)
		case 2:
			return cu.MemsetD16(to, uint16(value), values)
		}
		return cu.MemsetD32(to, value, values)
	}, "cuMemset", count*uint64(width))
}
