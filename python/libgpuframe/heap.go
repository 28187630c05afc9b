//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import "runtime"

// gpuframe_heap collects garbage and sets bytes to what Go's live objects hold. Tests look
// for leaks with it: the memory of the process also has garbage that nothing has
// collected yet, and pages that the kernel drops and reads again.
//
//export gpuframe_heap
func gpuframe_heap(bytes *C.int64_t) *C.char {
	return guarded(func() error {
		// The first collection finds objects with a finalizer or in a sync.Pool, the next
		// two free them and what only they held.
		for range 3 {
			runtime.GC()
		}
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		*bytes = C.int64_t(now.HeapAlloc)
		return nil
	})
}
