package nvtx

import (
	"os"
	"sync"
)

// Range is a range of time of the domain gpuframe. The zero Range is that of a program
// without a profiler.
type Range struct {
	id     uint64
	marked bool
}

// attached reports whether a profiler has attached itself, and attaches it on the first
// call.
var attached = sync.OnceValue(func() bool {
	path := os.Getenv("NVTX_INJECTION64_PATH")
	return path != "" && attach(path)
})

// Start begins a range. It may end on another thread. The name is a function, so that it
// costs nothing without a profiler.
func Start(name func() string) Range {
	if !attached() {
		return Range{}
	}
	return Range{start(name()), true}
}

// End ends the range.
func (r Range) End() {
	if r.marked {
		end(r.id)
	}
}
