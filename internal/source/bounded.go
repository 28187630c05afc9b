package source

import (
	"fmt"
	"math"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// mostAllocated is the length of one buffer of a file of unknown length at most.
const mostAllocated = min(math.MaxInt, 4<<30)

// bounded is an allocator that panics for buffers that no file has: their length comes
// from a damaged file, and an attempt to allocate it could end the process. The panic
// becomes an error where decoders are called.
type bounded struct {
	arrowmemory.Allocator
	most int
}

func (b bounded) Allocate(size int) []byte {
	b.check(size)
	return b.Allocator.Allocate(size)
}

func (b bounded) Reallocate(size int, old []byte) []byte {
	b.check(size)
	return b.Allocator.Reallocate(size, old)
}

func (b bounded) check(size int) {
	if size < 0 || size > b.most {
		panic(fmt.Sprintf("a buffer of %d bytes, expected at most %d", size, b.most))
	}
}
