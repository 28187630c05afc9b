//go:build !(cgo && unix)

package cmem

import "unsafe"

// Allocate returns the address of memory of the given size, or nil if Go cannot address
// it. The size must be above zero and at most math.MaxInt-Alignment. The Go runtime
// ends the process if the system refuses memory, so Allocate cannot report that.
func Allocate(bytes uint64) (address unsafe.Pointer) {
	// make panics for a length above the address space.
	defer func() {
		if recover() != nil {
			address = nil
		}
	}()
	// A pointer into the slice keeps all of it reachable.
	backing := make([]byte, bytes+Alignment-1)
	first := unsafe.Pointer(unsafe.SliceData(backing))
	return unsafe.Add(first, -uintptr(first)&(Alignment-1))
}

// Free leaves the memory to the collector, which frees it once the caller has dropped
// its last pointer.
func Free(unsafe.Pointer) {}
