//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include <stdlib.h>
#include "shims.h"

#cgo noescape libcuda_module_load
#cgo nocallback libcuda_module_load
#cgo noescape libcuda_module_compile
#cgo nocallback libcuda_module_compile
#cgo nocallback libcuda_module_unload
#cgo noescape libcuda_module_function
#cgo nocallback libcuda_module_function
#cgo noescape libcuda_function_attribute
#cgo nocallback libcuda_function_attribute
#cgo nocallback libcuda_function_set_attribute
#cgo noescape libcuda_function_parameter
#cgo nocallback libcuda_function_parameter
#cgo noescape libcuda_occupancy
#cgo nocallback libcuda_occupancy
#cgo noescape libcuda_launch
#cgo nocallback libcuda_launch
*/
import "C"

import (
	"strings"
	"unsafe"
)

// logBytes is the size of each of the compiler's two logs.
const logBytes = 16 << 10

// ModuleLoad loads an image, which is not empty. PTX text must end with a NUL byte. It
// returns the compiler's log, errors first.
func (d Device) ModuleLoad(image []byte) (module uintptr, log string, result Result) {
	var cModule C.uintptr_t
	logs := make([]byte, 2*logBytes)
	errors, notes := logs[:logBytes], logs[logBytes:]
	r := C.libcuda_module_load(d.c, &cModule, (*C.char)(unsafe.Pointer(&image[0])),
		(*C.char)(unsafe.Pointer(&errors[0])), (*C.char)(unsafe.Pointer(&notes[0])), logBytes)
	return uintptr(cModule), compilerLog(errors, notes), Result(r)
}

// ModuleCompile compiles PTX text that ends with a NUL byte. It returns the compiler's
// log as ModuleLoad does.
func (d Device) ModuleCompile(code []byte) (cubin []byte, log string, result Result) {
	var binary unsafe.Pointer
	var bytes C.size_t
	logs := make([]byte, 2*logBytes)
	errors, notes := logs[:logBytes], logs[logBytes:]
	r := C.libcuda_module_compile(d.c, &binary, &bytes, (*C.char)(unsafe.Pointer(&code[0])), C.size_t(len(code)),
		(*C.char)(unsafe.Pointer(&errors[0])), (*C.char)(unsafe.Pointer(&notes[0])), logBytes)
	if r == 0 {
		cubin = C.GoBytes(binary, C.int(bytes))
		C.free(binary)
	}
	return cubin, compilerLog(errors, notes), Result(r)
}

// compilerLog returns the compiler's log, errors first.
func compilerLog(errors, notes []byte) string {
	return strings.TrimSpace(text(errors) + "\n" + text(notes))
}

// ModuleUnload unloads a module.
func (d Device) ModuleUnload(module uintptr) Result {
	return Result(C.libcuda_module_unload(d.c, C.uintptr_t(module)))
}

// ModuleFunction finds a kernel by its name, which contains no NUL byte.
func (d Device) ModuleFunction(module uintptr, name string) (uintptr, Result) {
	terminated := append([]byte(name), 0)
	var function C.uintptr_t
	result := C.libcuda_module_function(d.c, &function, C.uintptr_t(module), (*C.char)(unsafe.Pointer(&terminated[0])))
	return uintptr(function), Result(result)
}

// FunctionAttribute returns a CUfunction_attribute.
func (d Device) FunctionAttribute(function uintptr, attribute int32) (int, Result) {
	var value C.int32_t
	result := C.libcuda_function_attribute(d.c, &value, C.int32_t(attribute), C.uintptr_t(function))
	return int(value), Result(result)
}

// FunctionSetAttribute sets a CUfunction_attribute.
func (d Device) FunctionSetAttribute(function uintptr, attribute int32, value int32) Result {
	return Result(C.libcuda_function_set_attribute(d.c, C.uintptr_t(function), C.int32_t(attribute), C.int32_t(value)))
}

// FunctionParameter returns the offset and the size of a kernel's parameter.
func (d Device) FunctionParameter(function uintptr, index int) (offset, bytes uint64, result Result) {
	var cOffset, cBytes C.size_t
	r := C.libcuda_function_parameter(d.c, C.uintptr_t(function), C.size_t(index), &cOffset, &cBytes)
	return uint64(cOffset), uint64(cBytes), Result(r)
}

// Occupancy returns the number of blocks of a kernel that one multiprocessor holds.
func (d Device) Occupancy(function uintptr, threads int32, shared uint32) (int, Result) {
	var blocks C.int32_t
	result := C.libcuda_occupancy(d.c, &blocks, C.uintptr_t(function), C.int32_t(threads), C.size_t(shared))
	return int(blocks), Result(result)
}

// LaunchArguments is the maximum number of arguments of Launch.
const LaunchArguments = C.LIBCUDA_LAUNCH_ARGUMENTS

// Launch enqueues a kernel. The shape is the extent of the grid and then of the block.
// Argument i begins at slots[starts[i]]; the caller has checked the starts.
func (d Device) Launch(function uintptr, shape *[6]uint32, shared uint32, stream uintptr, slots []uint64, starts []uint32) Result {
	return Result(C.libcuda_launch(d.c, C.uintptr_t(function), (*C.uint32_t)(unsafe.Pointer(shape)), C.uint32_t(shared), C.uintptr_t(stream),
		(*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(slots))), (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(starts))), C.uint32_t(len(starts))))
}
