//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"fmt"
	"io"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// release ends a handle. An ended handle and zero have no effect.
func release(h handle) error {
	switch object := objects.take(h).(type) {
	case nil:
		return nil
	case *series:
		return object.Release()
	case *buffer.Buffer:
		return object.Release()
	case *memory.Manager:
		return closeManager(object)
	case io.Closer:
		return object.Close()
	default:
		return fmt.Errorf("release of %T: %w", object, errType)
	}
}

// gpuframe_release releases the object of a handle. It may be called any number of times.
// To release memory of another library it calls that library's deleter.
//
//export gpuframe_release
func gpuframe_release(h C.uint64_t) *C.char {
	return guarded(func() error { return release(handle(h)) })
}
