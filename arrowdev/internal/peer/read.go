//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer

// #include <stdint.h>
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

//export peerReadMemory
func peerReadMemory(reader C.uintptr_t, from C.uintptr_t, to unsafe.Pointer, size C.int64_t) C.int {
	read := cgo.Handle(reader).Value().(func(from uintptr, to []byte) error)
	if read(uintptr(from), unsafe.Slice((*byte)(to), int(size))) != nil {
		return -1
	}
	return 0
}
