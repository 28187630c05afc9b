//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import "github.com/gpuframe/gpuframe/objectstore"

// gpuframe_set_object_cache sets the folder of the process for what is read of object stores, and the most bytes in it. Without a folder
// nothing is kept.
//
//export gpuframe_set_object_cache
func gpuframe_set_object_cache(directory *C.char, bytes C.uint64_t) *C.char {
	return guarded(func() error {
		var cache *objectstore.Cache
		if name := C.GoString(directory); name != "" {
			var err error
			if cache, err = objectstore.NewCache(name, uint64(bytes)); err != nil {
				return err
			}
		}
		objectstore.SetCache(cache)
		return nil
	})
}
