//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math/bits"
	"unsafe"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// Copies and fills of zero bytes succeed without a driver call, with any addresses. All
// others need addresses that are not zero.

// copyable checks the addresses of a copy. It reports whether the copy has any bytes.
func (d *device) copyable(function string, destination, source uintptr, bytes uint64) (bool, error) {
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

func copied(result libcuda.Result, function string, bytes uint64) error {
	if result != libcuda.Success {
		return failed(result, function, "%s", humanize.IBytes(bytes))
	}
	return nil
}

func (d *device) CopyToDevice(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error {
	if proceed, err := d.copyable("cuMemcpyHtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyToDevice(uint64(destination), source, bytes), "cuMemcpyHtoD", bytes)
}

func (d *device) CopyToHost(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.copyable("cuMemcpyDtoH", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyToHost(destination, uint64(source), bytes), "cuMemcpyDtoH", bytes)
}

func (d *device) CopyOnDevice(destination, source backend.Pointer, bytes uint64) error {
	if proceed, err := d.copyable("cuMemcpyDtoD", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyOnDevice(uint64(destination), uint64(source), bytes), "cuMemcpyDtoD", bytes)
}

func (d *device) CopyToDeviceAsync(destination backend.Pointer, source unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.copyable("cuMemcpyHtoDAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyToDeviceAsync(uint64(destination), source, bytes, uintptr(stream)), "cuMemcpyHtoDAsync", bytes)
}

func (d *device) CopyToHostAsync(destination unsafe.Pointer, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.copyable("cuMemcpyDtoHAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyToHostAsync(destination, uint64(source), bytes, uintptr(stream)), "cuMemcpyDtoHAsync", bytes)
}

func (d *device) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if proceed, err := d.copyable("cuMemcpyDtoDAsync", uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	return copied(d.raw.CopyOnDeviceAsync(uint64(destination), uint64(source), bytes, uintptr(stream)), "cuMemcpyDtoDAsync", bytes)
}

// fillable checks a fill of count values of width bytes. It reports whether the fill
// has any bytes.
func (d *device) fillable(function string, destination backend.Pointer, width int, count uint64) (bool, error) {
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

func (d *device) Memset(destination backend.Pointer, value uint32, width int, count uint64) error {
	if proceed, err := d.fillable("cuMemset", destination, width, count); !proceed {
		return err
	}
	return copied(d.raw.Memset(uint64(destination), value, width, count), "cuMemset", count*uint64(width))
}

func (d *device) MemsetAsync(destination backend.Pointer, value uint32, width int, count uint64, stream backend.Stream) error {
	if proceed, err := d.fillable("cuMemsetAsync", destination, width, count); !proceed {
		return err
	}
	return copied(d.raw.MemsetAsync(uint64(destination), value, width, count, uintptr(stream)), "cuMemsetAsync", count*uint64(width))
}
