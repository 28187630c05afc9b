//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#cgo CFLAGS: -std=gnu11 -Wall
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "shims.h"

#cgo noescape libcuda_load
#cgo nocallback libcuda_load
#cgo nocallback libcuda_since
#cgo nocallback libcuda_init
*/
import "C"

import (
	"bytes"
	"os"
	"sync"
	"unsafe"
)

// Result is a CUresult: zero for success.
type Result int32

const (
	// Success is the result of a call that worked.
	Success Result = 0
	// TooOld is CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER. The driver returns it; the shims
	// return it for a function that the driver does not export.
	TooOld Result = 36
)

// PathVariable is the environment variable for another path of the driver library.
const PathVariable = "GPUFRAME_LIBCUDA"

// LoadFailure is the reason why the driver cannot be used. One of NotOpened,
// MissingSymbol and Init is set.
type LoadFailure struct {
	// Path is the path of the library that was opened.
	Path string
	// NotOpened is the dynamic linker's reason.
	NotOpened string
	// MissingSymbol is the first function that the library lacks.
	MissingSymbol string
	// Init is the result of cuInit.
	Init Result
}

// Load opens the driver library and initialises the driver, once for the process. It
// returns nil if the driver can be used.
var Load = sync.OnceValue(load)

func load() *LoadFailure {
	path := os.Getenv(PathVariable)
	if path == "" {
		path = "libcuda.so.1"
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	message := make([]byte, 1024)
	switch C.libcuda_load(name, (*C.char)(unsafe.Pointer(&message[0])), C.size_t(len(message))) {
	case C.LIBCUDA_NOT_OPENED:
		return &LoadFailure{Path: path, NotOpened: text(message)}
	case C.LIBCUDA_SYMBOL_MISSING:
		return &LoadFailure{Path: path, MissingSymbol: text(message)}
	}
	if result := Result(C.libcuda_init()); result != Success {
		return &LoadFailure{Path: path, Init: result}
	}
	return nil
}

// Since returns the CUDA version, as 1000·major + 10·minor, that introduced an optional
// function, and zero for one that every supported driver has.
func Since(symbol string) int {
	name := C.CString(symbol)
	defer C.free(unsafe.Pointer(name))
	return int(C.libcuda_since(name))
}

// text returns the part of a C string's buffer before the first NUL byte.
func text(buffer []byte) string {
	before, _, _ := bytes.Cut(buffer, []byte{0})
	return string(before)
}
