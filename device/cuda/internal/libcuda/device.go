//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_driver_version
#cgo nocallback libcuda_driver_version
#cgo noescape libcuda_device_count
#cgo nocallback libcuda_device_count
#cgo noescape libcuda_device_get
#cgo nocallback libcuda_device_get
#cgo noescape libcuda_device_name
#cgo nocallback libcuda_device_name
#cgo noescape libcuda_device_total_memory
#cgo nocallback libcuda_device_total_memory
#cgo noescape libcuda_device_uuid
#cgo nocallback libcuda_device_uuid
#cgo noescape libcuda_device_attribute
#cgo nocallback libcuda_device_attribute
#cgo noescape libcuda_context_retain
#cgo nocallback libcuda_context_retain
#cgo nocallback libcuda_context_release
#cgo nocallback libcuda_synchronize
#cgo noescape libcuda_memory_info
#cgo nocallback libcuda_memory_info
*/
import "C"

import "unsafe"

// DriverVersion returns the newest CUDA version that the driver implements, as
// 1000·major + 10·minor.
func DriverVersion() (int, Result) {
	var version C.int32_t
	result := C.libcuda_driver_version(&version)
	return int(version), Result(result)
}

// DeviceCount returns the number of devices that the driver shows this process.
func DeviceCount() (int, Result) {
	var count C.int32_t
	result := C.libcuda_device_count(&count)
	return int(count), Result(result)
}

// Handle is a CUdevice.
type Handle int32

// DeviceGet returns the handle of a device by its number.
func DeviceGet(ordinal int) (Handle, Result) {
	var handle C.int32_t
	result := C.libcuda_device_get(&handle, C.int32_t(ordinal))
	return Handle(handle), Result(result)
}

// Name returns the product's name.
func (h Handle) Name() (string, Result) {
	var name [256]byte
	result := C.libcuda_device_name((*C.char)(unsafe.Pointer(&name[0])), C.int32_t(len(name)), C.int32_t(h))
	return text(name[:]), Result(result)
}

// TotalMemory returns the device's memory in bytes.
func (h Handle) TotalMemory() (uint64, Result) {
	var bytes C.size_t
	result := C.libcuda_device_total_memory(&bytes, C.int32_t(h))
	return uint64(bytes), Result(result)
}

// UUID returns the device's identity, or that of its instance on a partitioned GPU.
func (h Handle) UUID() ([16]byte, Result) {
	var uuid [16]byte
	result := C.libcuda_device_uuid((*C.char)(unsafe.Pointer(&uuid[0])), C.int32_t(h))
	return uuid, Result(result)
}

// Attribute returns a CUdevice_attribute.
func (h Handle) Attribute(attribute int32) (int, Result) {
	var value C.int32_t
	result := C.libcuda_device_attribute(&value, C.int32_t(attribute), C.int32_t(h))
	return int(value), Result(result)
}

// Device is a device with a retained primary context. It is valid until Release; a copy
// is the same device.
type Device struct {
	c C.libcuda_device
}

// Retain retains the device's primary context, which the CUDA runtime, PyTorch and CuPy
// use too. It creates the context if the process has none yet.
func (h Handle) Retain() (Device, Result) {
	device := Device{c: C.libcuda_device{handle: C.int32_t(h)}}
	var context C.uintptr_t
	result := C.libcuda_context_retain(&context, C.int32_t(h))
	device.c.context = context
	return device, Result(result)
}

// Release releases the primary context. The driver destroys it with the last reference
// of the process.
func (d Device) Release() Result {
	return Result(C.libcuda_context_release(d.c.handle))
}

// Handle returns the CUdevice.
func (d Device) Handle() Handle { return Handle(d.c.handle) }

// Synchronize waits for all work of the context.
func (d Device) Synchronize() Result {
	return Result(C.libcuda_synchronize(d.c))
}

// MemoryInfo returns the device's free and total memory in bytes.
func (d Device) MemoryInfo() (free, total uint64, result Result) {
	var cFree, cTotal C.size_t
	r := C.libcuda_memory_info(d.c, &cFree, &cTotal)
	return uint64(cFree), uint64(cTotal), Result(r)
}
