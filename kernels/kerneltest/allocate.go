package kerneltest

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// behind is the number of bytes that Alloc leaves free after an allocation, so that a
// kernel that runs past its end does not reach another allocation.
const behind = 256

func invalid(operation, format string, arguments ...any) error {
	return fmt.Errorf("kerneltest: %s: %s: %w", operation, fmt.Sprintf(format, arguments...), backend.ErrInvalidValue)
}

func undefine(pointer backend.Pointer, bytes uint64) {
	fillUndefined(unsafe.Slice((*byte)(pointerAt(uint64(pointer))), bytes))
}

// Alloc implements backend.Memory.
func (e *emulator) Alloc(bytes uint64) (backend.Pointer, error) {
	room := uint64(0)
	if bytes > 0 && bytes < math.MaxUint64-behind {
		room = behind
	}
	pointer, err := e.Device.Alloc(bytes + room)
	if err != nil {
		return 0, err
	}
	undefine(pointer, bytes)
	e.memory.add(uint64(pointer), bytes, false)
	return pointer, nil
}

// Free implements backend.Memory.
func (e *emulator) Free(pointer backend.Pointer) error {
	return e.forget(uint64(pointer), func() error { return e.Device.Free(pointer) })
}

// forget removes the allocation before its memory is freed, because the address can be
// reused as soon as it is free.
func (e *emulator) forget(base uint64, free func() error) error {
	was, known := e.memory.find(base)
	known = known && was.base == base
	if known {
		e.memory.remove(base)
	}
	err := free()
	if err != nil && known {
		e.memory.add(base, was.end-base, was.readOnly)
	}
	return err
}

// AllocAsync implements backend.Memory.
func (e *emulator) AllocAsync(bytes uint64, pool backend.Pool, stream backend.Stream) (backend.Pointer, error) {
	if err := e.refuseCaptured("AllocAsync", stream); err != nil {
		return 0, err
	}
	pointer, err := e.Device.AllocAsync(bytes, pool, stream)
	if err != nil {
		return 0, err
	}
	undefine(pointer, bytes)
	e.memory.add(uint64(pointer), bytes, false)
	return pointer, nil
}

// FreeAsync implements backend.Memory.
func (e *emulator) FreeAsync(pointer backend.Pointer, stream backend.Stream) error {
	if err := e.refuseCaptured("FreeAsync", stream); err != nil {
		return err
	}
	return e.forget(uint64(pointer), func() error { return e.Device.FreeAsync(pointer, stream) })
}

// AllocManaged implements backend.Managed.
func (e *emulator) AllocManaged(bytes uint64) (backend.Pointer, error) {
	pointer, err := e.Device.AllocManaged(bytes)
	if err == nil {
		e.memory.add(uint64(pointer), bytes, false)
	}
	return pointer, err
}

// HostAlloc implements backend.Memory.
func (e *emulator) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	pointer, err := e.Device.HostAlloc(bytes)
	if err == nil {
		e.memory.add(uint64(uintptr(pointer)), bytes, false)
	}
	return pointer, err
}

// HostFree implements backend.Memory.
func (e *emulator) HostFree(pointer unsafe.Pointer) error {
	return e.forget(uint64(uintptr(pointer)), func() error { return e.Device.HostFree(pointer) })
}

// HostRegister implements backend.Memory.
func (e *emulator) HostRegister(pointer unsafe.Pointer, bytes uint64) error {
	err := e.Device.HostRegister(pointer, bytes)
	if err == nil {
		e.memory.add(uint64(uintptr(pointer)), bytes, false)
	}
	return err
}

// HostUnregister implements backend.Memory.
func (e *emulator) HostUnregister(pointer unsafe.Pointer) error {
	return e.forget(uint64(uintptr(pointer)), func() error { return e.Device.HostUnregister(pointer) })
}

// Map implements backend.VirtualMemory.
func (e *emulator) Map(at backend.Pointer, bytes, offset uint64, physical backend.Physical) error {
	err := e.Device.Map(at, bytes, offset, physical)
	if err == nil {
		e.memory.add(uint64(at), bytes, false)
	}
	return err
}

// Unmap implements backend.VirtualMemory.
func (e *emulator) Unmap(at backend.Pointer, bytes uint64) error {
	return e.forget(uint64(at), func() error { return e.Device.Unmap(at, bytes) })
}
