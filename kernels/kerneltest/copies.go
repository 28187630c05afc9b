package kerneltest

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// The host refuses copies past the end of an allocation, but Alloc adds spare bytes to
// its allocations, so the emulator checks the requested size itself.

// fits returns an error if a range runs past the end of the allocation in which it
// begins, or of the mappings adjacent to it.
func (e *emulator) fits(operation string, pointer backend.Pointer, bytes uint64) error {
	allocation, ok := e.memory.find(uint64(pointer))
	if !ok {
		return nil // the host checks memory of other devices
	}
	end := allocation.end
	for bytes > end-uint64(pointer) {
		if allocation, ok = e.memory.find(end); !ok {
			return invalid(operation, "%d bytes at %v exceed the %d bytes left in the allocation", bytes, pointer, end-uint64(pointer))
		}
		end = allocation.end
	}
	return nil
}

func (e *emulator) CopyToDevice(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error {
	if err := e.fits("CopyToDevice", destination, bytes); err != nil {
		return err
	}
	return e.Device.CopyToDevice(destination, source, bytes)
}

func (e *emulator) CopyToHost(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error {
	if err := e.fits("CopyToHost", source, bytes); err != nil {
		return err
	}
	return e.Device.CopyToHost(destination, source, bytes)
}

func (e *emulator) CopyOnDevice(destination, source backend.Pointer, bytes uint64) error {
	if err := e.both("CopyOnDevice", destination, source, bytes); err != nil {
		return err
	}
	return e.Device.CopyOnDevice(destination, source, bytes)
}

func (e *emulator) both(operation string, destination, source backend.Pointer, bytes uint64) error {
	if err := e.fits(operation, destination, bytes); err != nil {
		return err
	}
	return e.fits(operation, source, bytes)
}

func (e *emulator) CopyToDeviceAsync(destination backend.Pointer, source unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	if err := e.fits("CopyToDeviceAsync", destination, bytes); err != nil {
		return err
	}
	do := func(stream backend.Stream) error {
		return e.Device.CopyToDeviceAsync(destination, source, bytes, stream)
	}
	if e.captured(stream, do) {
		return nil
	}
	return do(stream)
}

func (e *emulator) CopyToHostAsync(destination unsafe.Pointer, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if err := e.fits("CopyToHostAsync", source, bytes); err != nil {
		return err
	}
	do := func(stream backend.Stream) error { return e.Device.CopyToHostAsync(destination, source, bytes, stream) }
	if e.captured(stream, do) {
		return nil
	}
	return do(stream)
}

func (e *emulator) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, stream backend.Stream) error {
	if err := e.both("CopyOnDeviceAsync", destination, source, bytes); err != nil {
		return err
	}
	do := func(stream backend.Stream) error {
		return e.Device.CopyOnDeviceAsync(destination, source, bytes, stream)
	}
	if e.captured(stream, do) {
		return nil
	}
	return do(stream)
}

func (e *emulator) Memset(destination backend.Pointer, value uint32, width int, count uint64) error {
	if err := e.fits("Memset", destination, uint64(width)*count); err != nil {
		return err
	}
	return e.Device.Memset(destination, value, width, count)
}

func (e *emulator) MemsetAsync(destination backend.Pointer, value uint32, width int, count uint64, stream backend.Stream) error {
	if err := e.fits("MemsetAsync", destination, uint64(width)*count); err != nil {
		return err
	}
	do := func(stream backend.Stream) error {
		return e.Device.MemsetAsync(destination, value, width, count, stream)
	}
	if e.captured(stream, do) {
		return nil
	}
	return do(stream)
}
