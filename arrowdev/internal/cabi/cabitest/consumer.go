//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabitest

/*
#include <stdlib.h>
#include "consumer.h"
*/
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// New returns a cleared struct in C memory.
func New[T any]() *T {
	var t T
	return (*T)(C.calloc(1, C.size_t(unsafe.Sizeof(t))))
}

// Allocate returns cleared C memory.
func Allocate(bytes int) unsafe.Pointer { return C.calloc(1, C.size_t(max(bytes, 1))) }

// Free frees memory of New or Allocate.
func Free[T any](memory *T) { C.free(unsafe.Pointer(memory)) }

// MoveArray moves an array as consumers do: it copies the bytes and marks the source as
// released.
func MoveArray(to, from *cabi.Array) { *to = *from; from.Release = 0 }

// MoveSchema is MoveArray for a schema.
func MoveSchema(to, from *cabi.Schema) { *to = *from; from.Release = 0 }

// ReleaseArray calls the release from C.
func ReleaseArray(array *cabi.Array) { C.consumer_release_array(unsafe.Pointer(array)) }

// ReleaseSchema calls the release from C.
func ReleaseSchema(schema *cabi.Schema) { C.consumer_release_schema(unsafe.Pointer(schema)) }

// ReleaseArrayOnThread calls the release on a new thread and waits for it.
func ReleaseArrayOnThread(array *cabi.Array) error {
	return joined(C.consumer_release_array_on_thread(unsafe.Pointer(array)))
}

// ReleaseSchemaOnThread calls the release on a new thread and waits for it.
func ReleaseSchemaOnThread(schema *cabi.Schema) error {
	return joined(C.consumer_release_schema_on_thread(unsafe.Pointer(schema)))
}

func joined(failed C.int) error {
	if failed != 0 {
		return fmt.Errorf("cabitest: start or join a thread: %w", syscall.Errno(failed))
	}
	return nil
}
