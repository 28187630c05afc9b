package observe

import (
	"runtime/pprof"
	"sync"
)

// listing makes the name of the profile known to runtime/pprof once.
var listing sync.Mutex

// ListHeap adds gpu_heap to the profiles of runtime/pprof, so that the index of
// /debug/pprof lists it. The profile there has no samples: mount [Recorder.HeapHandler] at
// /debug/pprof/gpu_heap.
func ListHeap() {
	listing.Lock()
	defer listing.Unlock()
	if pprof.Lookup("gpu_heap") == nil {
		pprof.NewProfile("gpu_heap")
	}
}
