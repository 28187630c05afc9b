package host

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// address is the pointer whose value p is. The word is reinterpreted rather
// than converted because vet, with good reason, objects to conversions of
// integers; here the memory is either not Go's or kept reachable by the
// inventory, and it does not move.
func address(p backend.Pointer) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}
