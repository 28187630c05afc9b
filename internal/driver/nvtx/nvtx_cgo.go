//go:build cgo && linux && (amd64 || arm64)

package nvtx

/*
#cgo LDFLAGS: -ldl
#cgo noescape gpuframe_nvtx_attach
#cgo noescape gpuframe_nvtx_start
#cgo nocallback gpuframe_nvtx_attach
#cgo nocallback gpuframe_nvtx_start
#cgo nocallback gpuframe_nvtx_end

#include "nvtx.h"
*/
import "C"

import (
	"strings"
	"unsafe"
)

// text returns the bytes of a string of C.
func text(s string) *C.char {
	s, _, _ = strings.Cut(s, "\x00")
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(append([]byte(s), 0))))
}

func attach(path string) bool { return C.gpuframe_nvtx_attach(text(path)) != 0 }

func start(name string) uint64 { return uint64(C.gpuframe_nvtx_start(text(name))) }

func end(id uint64) { C.gpuframe_nvtx_end(C.uint64_t(id)) }
