//go:build cgo && linux && (amd64 || arm64)

package nvrtc

/*
#cgo CFLAGS: -std=gnu11 -Wall
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "shims.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"
)

// libraries are tried in this order if the variable is not set. The last one is where CUDA is
// installed, which the loader often does not know.
var libraries = []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}

// load opens the library, once for the process.
var load = sync.OnceValue(func() error {
	paths := libraries
	if path := os.Getenv(PathVariable); path != "" {
		paths = []string{path}
	}
	var failure error
	for _, path := range paths {
		err := open(path)
		if err == nil {
			return nil
		}
		if failure == nil {
			failure = err
		}
	}
	return failure
})

func open(path string) error {
	library := C.CString(path)
	defer C.free(unsafe.Pointer(library))
	message := make([]byte, 1024)
	result := C.nvrtc_load(library, (*C.char)(unsafe.Pointer(&message[0])), C.size_t(len(message)))
	text, _, _ := bytes.Cut(message, []byte{0})
	switch result {
	case C.NVRTC_LOADED:
		return nil
	case C.NVRTC_SYMBOL_MISSING:
		return &Unavailable{Path: path, Reason: "it lacks " + string(text)}
	}
	return &Unavailable{Path: path, Reason: string(text)}
}

// Compile returns the PTX of CUDA C++ for GPUs of a compute capability. It is safe for concurrent use.
//
// # Errors
//
// The error is an [*Unavailable] or a [*CompileError].
func Compile(source string, major, minor int, options []string) (string, error) {
	if err := load(); err != nil {
		return "", err
	}
	if strings.Contains(source, "\x00") {
		return "", errors.Join(errors.New("nvrtc: the source contains a zero byte"), ErrSource)
	}
	list := append([]string{fmt.Sprintf("--gpu-architecture=compute_%d%d", major, minor)}, options...)
	arguments := make([]*C.char, len(list))
	for i, option := range list {
		arguments[i] = C.CString(option)
		defer C.free(unsafe.Pointer(arguments[i]))
	}
	// C has the array, because it holds pointers of C that Go must not move while C reads them.
	array := (**C.char)(C.calloc(C.size_t(len(arguments)), C.size_t(unsafe.Sizeof(arguments[0]))))
	defer C.free(unsafe.Pointer(array))
	copy(unsafe.Slice(array, len(arguments)), arguments)
	code := C.CString(source)
	defer C.free(unsafe.Pointer(code))
	var ptx, log *C.char
	result := C.nvrtc_compile(code, array, C.int32_t(len(arguments)), &ptx, &log)
	defer C.free(unsafe.Pointer(ptx))
	defer C.free(unsafe.Pointer(log))
	if result != 0 {
		return "", &CompileError{Code: int(result), Text: C.GoString(C.nvrtc_text(result)), Log: strings.TrimSpace(C.GoString(log))}
	}
	return C.GoString(ptx), nil
}
