//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

func copied(result libcuda.Result, function string, bytes uint64) error {
	if result != libcuda.Success {
		return failed(result, function, drivercall.Size(bytes))
	}
	return nil
}

func (d *device) CopyToDevice(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error {
	if proceed, err := d.guard.Copy("cuMemcpyHtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyToDevice(uint64(destination), source, bytes), "cuMemcpyHtoD", bytes)
}

func (d *device) CopyToHost(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoH", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyToHost(destination, uint64(source), bytes), "cuMemcpyDtoH", bytes)
}

func (d *device) CopyOnDevice(destination, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyOnDevice(uint64(destination), uint64(source), bytes), "cuMemcpyDtoD", bytes)
}

func (d *device) CopyToDeviceAsync(destination backend.Pointer, source unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.guard.Copy("cuMemcpyHtoDAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyToDeviceAsync(uint64(destination), source, bytes, uintptr(stream)), "cuMemcpyHtoDAsync", bytes)
}

func (d *device) CopyToHostAsync(destination unsafe.Pointer, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoHAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyToHostAsync(destination, uint64(source), bytes, uintptr(stream)), "cuMemcpyDtoHAsync", bytes)
}

func (d *device) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.guard.Copy("cuMemcpyDtoDAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyOnDeviceAsync(uint64(destination), uint64(source), bytes, uintptr(stream)), "cuMemcpyDtoDAsync", bytes)
}

func (d *device) Memset(destination backend.Pointer, value uint32, width int, count uint64) error {
	if proceed, err := d.guard.Fill("cuMemset", destination, width, count); !proceed {
		return err
	}
	return copied(d.raw.Memset(uint64(destination), value, width, count), "cuMemset", count*uint64(width))
}

func (d *device) MemsetAsync(destination backend.Pointer, value uint32, width int, count uint64, stream backend.Stream) error {
	if proceed, err := d.guard.Fill("cuMemsetAsync", destination, width, count); !proceed {
		return err
	}
	return copied(d.raw.MemsetAsync(uint64(destination), value, width, count, uintptr(stream)), "cuMemsetAsync", count*uint64(width))
}
