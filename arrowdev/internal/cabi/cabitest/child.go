//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabitest

/*
#include "child.h"
*/
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// ReleaseArrayInChild calls an array's release in a forked child. If the child failed,
// the error describes its exit.
func ReleaseArrayInChild(array *cabi.Array) error {
	return ended(C.release_array_in_child(unsafe.Pointer(array)))
}

// ReleaseSchemaInChild is ReleaseArrayInChild for a schema.
func ReleaseSchemaInChild(schema *cabi.Schema) error {
	return ended(C.release_schema_in_child(unsafe.Pointer(schema)))
}

// UseStreamInChild reads a stream in a forked child, which must be refused, and
// releases it there.
func UseStreamInChild(stream *cabi.DeviceStream) error {
	return ended(C.use_stream_in_child(unsafe.Pointer(stream)))
}

func ended(status C.int) error {
	switch s := syscall.WaitStatus(status); {
	case s == 0:
		return nil
	case s.ExitStatus() == C.STILL_THERE:
		return fmt.Errorf("cabitest: the child's struct was not marked as released")
	case s.ExitStatus() == C.GIVEN:
		return fmt.Errorf("cabitest: the child was given data")
	case s.ExitStatus() == C.UNEXPLAINED:
		return fmt.Errorf("cabitest: the child was given no reason")
	default:
		return fmt.Errorf("cabitest: the child ended with code %d, signal %v", s.ExitStatus(), s.Signal())
	}
}
