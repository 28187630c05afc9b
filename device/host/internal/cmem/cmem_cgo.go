//go:build cgo && unix

package cmem

/*
#cgo noescape gpuframe_allocate
#cgo nocallback gpuframe_allocate
#cgo noescape gpuframe_release
#cgo nocallback gpuframe_release

#include <stddef.h>
#include <stdlib.h>

static void *gpuframe_allocate(size_t alignment, size_t bytes) {
	void *address = NULL;
	if (posix_memalign(&address, alignment, bytes) != 0) {
		return NULL;
	}
	return address;
}

static void gpuframe_release(void *address) {
	free(address);
}
*/
import "C"

import "unsafe"

// Allocate returns the address of memory of the given size, or nil if the system has
// not enough. The size must be above zero and at most math.MaxInt-Alignment.
func Allocate(bytes uint64) unsafe.Pointer {
	return C.gpuframe_allocate(Alignment, C.size_t(bytes))
}

// Free frees memory. Call it once for each allocation.
func Free(address unsafe.Pointer) {
	C.gpuframe_release(address)
}
