//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"math/bits"
	"unsafe"

	"github.com/dustin/go-humanize"
	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
)

// Copies and fills of zero bytes succeed without a driver call, with any addresses. All
// others need addresses that are not zero.

// copyable checks the addresses of a copy. It reports whether the copy has any bytes.
func (d *openDevice) copyable(function string, destination, source uintptr, bytes uint64) (bool, error) {
	if err := d.open(function); err != nil {
		return false, err
	}
	if bytes == 0 {
		return false, nil
	}
	if destination == 0 || source == 0 {
		return false, refuse(function, "the destination or the source is nil")
	}
	return true, nil
}

func copied(result shim.Result, function string, bytes uint64) error {
	if result != shim.Success {
		return failed(cuda.Code(result), function, "%s", humanize.IBytes(bytes))
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
		return callFailed(err, function, "%s", humanize.IBytes(bytes))
	}
	return nil
}

func (d *openDevice) CopyToDevice(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error {
	if proceed, err := d.copyable("cuMemcpyHtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyToDevice(uint64(destination), source, bytes), "cuMemcpyHtoD", bytes)
}

func (d *openDevice) CopyToHost(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.copyable("cuMemcpyDtoH", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyToHost(destination, uint64(source), bytes), "cuMemcpyDtoH", bytes)
}

func (d *openDevice) CopyOnDevice(destination, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.copyable("cuMemcpyDtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return d.synchronized(func() error {
		return cu.MemcpyDtoD(cu.DevicePtr(destination), cu.DevicePtr(source), int64(bytes))
	}, "cuMemcpyDtoD", bytes)
}

func (d *openDevice) CopyToDeviceAsync(destination backend.Pointer, source unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.copyable("cuMemcpyHtoDAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyToDeviceAsync(uint64(destination), source, bytes, uintptr(stream)), "cuMemcpyHtoDAsync", bytes)
}

func (d *openDevice) CopyToHostAsync(destination unsafe.Pointer, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.copyable("cuMemcpyDtoHAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyToHostAsync(destination, uint64(source), bytes, uintptr(stream)), "cuMemcpyDtoHAsync", bytes)
}

func (d *openDevice) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.copyable("cuMemcpyDtoDAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.shim.CopyOnDeviceAsync(uint64(destination), uint64(source), bytes, uintptr(stream)), "cuMemcpyDtoDAsync", bytes)
}

// fillable checks a fill of count values of width bytes. It reports whether the fill
// has any bytes.
func (d *openDevice) fillable(function string, destination backend.Pointer, width int, count uint64) (bool, error) {
	if err := d.open(function); err != nil {
		return false, err
	}
	if width != 1 && width != 2 && width != 4 {
		return false, refuse(function, "the width is %d bytes, not 1, 2 or 4", width)
	}
	if count == 0 {
		return false, nil
	}
	if destination == 0 {
		return false, refuse(function, "the destination is zero")
	}
	if uint64(destination)%uint64(width) != 0 {
		return false, refuse(function, "the destination %v is not aligned to the width of %d bytes", destination, width)
	}
	if high, _ := bits.Mul64(count, uint64(width)); high != 0 {
		return false, refuse(function, "%d values of %d bytes exceed the address space", count, width)
	}
	return true, nil
}

func (d *openDevice) Memset(destination backend.Pointer, value uint32, width int, count uint64) error {
	if proceed, err := d.fillable("cuMemset", destination, width, count); !proceed {
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
	if proceed, err := d.fillable("cuMemsetAsync", destination, width, count); !proceed {
		return err
	}
	return copied(d.shim.MemsetAsync(uint64(destination), value, width, count, uintptr(stream)), "cuMemsetAsync", count*uint64(width))
}
