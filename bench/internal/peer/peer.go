//go:build linux && cgo

package peer

/*
#cgo LDFLAGS: -ldl
#include "peer.h"
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// Open prepares the timing of operations on a CUDA device. Call it once.
func Open(ordinal int) error {
	if result := C.peer_open(C.int(ordinal)); result != 0 {
		return fmt.Errorf("peer: open the driver: result %d", int(result))
	}
	return nil
}

func each(n int, nanoseconds C.int64_t) (time.Duration, error) {
	if nanoseconds < 0 {
		return 0, fmt.Errorf("peer: the driver returned %d", -int64(nanoseconds))
	}
	return time.Duration(nanoseconds) / time.Duration(n), nil
}

// Launch returns the time to enqueue one launch of a kernel without arguments.
func Launch(n int, function backend.Function, stream backend.Stream) (time.Duration, error) {
	return each(n, C.peer_launch(C.int(n), address.Pointer(function), address.Pointer(stream)))
}

// Alloc returns the time of cuMemAlloc and cuMemFree.
func Alloc(n int, bytes uint64) (time.Duration, error) {
	return each(n, C.peer_alloc(C.int(n), C.size_t(bytes)))
}

// AllocAsync returns the time of cuMemAllocAsync and cuMemFreeAsync.
func AllocAsync(n int, bytes uint64, stream backend.Stream) (time.Duration, error) {
	return each(n, C.peer_alloc_async(C.int(n), C.size_t(bytes), address.Pointer(stream)))
}

// ToDevice returns the time of cuMemcpyHtoDAsync and the wait for it.
func ToDevice(n int, to device.Pointer, from unsafe.Pointer, bytes uint64, stream backend.Stream) (time.Duration, error) {
	return each(n, C.peer_to_device(C.int(n), C.uint64_t(to), from, C.size_t(bytes), address.Pointer(stream)))
}

// ToDevicePageable returns the time of cuMemcpyHtoD.
func ToDevicePageable(n int, to device.Pointer, from []byte) (time.Duration, error) {
	return each(n, C.peer_to_device_pageable(C.int(n), C.uint64_t(to), unsafe.Pointer(unsafe.SliceData(from)), C.size_t(len(from))))
}

// ToHost returns the time of cuMemcpyDtoHAsync and the wait for it.
func ToHost(n int, to unsafe.Pointer, from device.Pointer, bytes uint64, stream backend.Stream) (time.Duration, error) {
	return each(n, C.peer_to_host(C.int(n), to, C.uint64_t(from), C.size_t(bytes), address.Pointer(stream)))
}
