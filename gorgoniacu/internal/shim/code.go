//go:build linux && cgo && (amd64 || arm64)

package shim

/*
#include <stdlib.h>
#include "shim.h"

#cgo noescape shim_module_load
#cgo nocallback shim_module_load
#cgo noescape shim_module_compile
#cgo nocallback shim_module_compile
#cgo nocallback shim_function_set_attribute
#cgo noescape shim_function_parameter
#cgo nocallback shim_function_parameter
#cgo noescape shim_launch
#cgo nocallback shim_launch
*/
import "C"

import (
	"bytes"
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
	r := C.shim_module_load(d.c, &cModule, (*C.char)(unsafe.Pointer(&image[0])),
		(*C.char)(unsafe.Pointer(&errors[0])), (*C.char)(unsafe.Pointer(&notes[0])), logBytes)
	return uintptr(cModule), compilerLog(errors, notes), Result(r)
}

// ModuleCompile compiles PTX text that ends with a NUL byte. It returns the compiler's
// log as ModuleLoad does.
func (d Device) ModuleCompile(code []byte) (cubin []byte, log string, result Result) {
	var image unsafe.Pointer
	var size C.size_t
	logs := make([]byte, 2*logBytes)
	errors, notes := logs[:logBytes], logs[logBytes:]
	r := C.shim_module_compile(d.c, &image, &size, (*C.char)(unsafe.Pointer(&code[0])), C.size_t(len(code)),
		(*C.char)(unsafe.Pointer(&errors[0])), (*C.char)(unsafe.Pointer(&notes[0])), logBytes)
	if r == 0 {
		cubin = C.GoBytes(image, C.int(size))
		C.free(image)
	}
	return cubin, compilerLog(errors, notes), Result(r)
}

// compilerLog joins the texts that C wrote into buffers.
func compilerLog(buffers ...[]byte) string {
	var lines [][]byte
	for _, buffer := range buffers {
		text, _, _ := bytes.Cut(buffer, []byte{0})
		if text = bytes.TrimSpace(text); len(text) > 0 {
			lines = append(lines, text)
		}
	}
	return string(bytes.Join(lines, []byte{'\n'}))
}

// FunctionSetAttribute sets a CUfunction_attribute.
func (d Device) FunctionSetAttribute(function uintptr, attribute, value int32) Result {
	return Result(C.shim_function_set_attribute(d.c, C.uintptr_t(function), C.int32_t(attribute), C.int32_t(value)))
}

// FunctionParameter returns the offset and the size of a kernel's parameter.
func (d Device) FunctionParameter(function uintptr, index int) (offset, bytes uint64, result Result) {
	var cOffset, cBytes C.size_t
	r := C.shim_function_parameter(d.c, C.uintptr_t(function), C.size_t(index), &cOffset, &cBytes)
	return uint64(cOffset), uint64(cBytes), Result(r)
}

// LaunchArguments is the maximum number of arguments of Launch.
const LaunchArguments = C.SHIM_LAUNCH_ARGUMENTS

// Launch enqueues a kernel. The shape is the extent of the grid and then of the block.
// Argument i begins at slots[starts[i]]; the caller has checked the starts.
func (d Device) Launch(function uintptr, shape *[6]uint32, shared uint32, stream uintptr, slots []uint64, starts []uint32) Result {
	return Result(C.shim_launch(d.c, C.uintptr_t(function), (*C.uint32_t)(unsafe.Pointer(shape)), C.uint32_t(shared), C.uintptr_t(stream),
		(*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(slots))), (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(starts))), C.uint32_t(len(starts))))
}
