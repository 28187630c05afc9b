//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

func copied(result shim.Result, function string, bytes uint64) error {
	if result != shim.Success {
		return failed(cuda.Code(result), function, drivercall.Size(bytes))
	}
	return nil
}

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

func (d *openDevice) CopyToDevice(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error {
	if proceed, err := d.guard.Copy("cuMemcpyHtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyToDevice(uint64(destination), source, bytes), "cuMemcpyHtoD", bytes)
}

func (d *openDevice) CopyToHost(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoH", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyToHost(destination, uint64(source), bytes), "cuMemcpyDtoH", bytes)
}

func (d *openDevice) CopyOnDevice(destination, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return d.synchronized(func() error {
		return cu.MemcpyDtoD(cu.DevicePtr(destination), cu.DevicePtr(source), int64(bytes))
	}, "cuMemcpyDtoD", bytes)
}

func (d *openDevice) CopyToDeviceAsync(destination backend.Pointer, source unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.guard.Copy("cuMemcpyHtoDAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyToDeviceAsync(uint64(destination), source, bytes, uintptr(stream)), "cuMemcpyHtoDAsync", bytes)
}

func (d *openDevice) CopyToHostAsync(destination unsafe.Pointer, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoHAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyToHostAsync(destination, uint64(source), bytes, uintptr(stream)), "cuMemcpyDtoHAsync", bytes)
}

func (d *openDevice) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoDAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyOnDeviceAsync(uint64(destination), uint64(source), bytes, uintptr(stream)), "cuMemcpyDtoDAsync", bytes)
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

func (d *openDevice) MemsetAsync(destination backend.Pointer, value uint32, width int, count uint64, stream backend.Stream) error {
	if proceed, err := d.guard.Fill("cuMemsetAsync", destination, width, count); !proceed {
		return err
	}
	return copied(d.shim.MemsetAsync(uint64(destination), value, width, count, uintptr(stream)), "cuMemsetAsync", count*uint64(width))
}
