package arrowipc

import (
	"fmt"
	"math"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// MostBuffer is the length of the largest buffer if the length of the input is unknown.
const MostBuffer = min(math.MaxInt, 4<<30)

// Bounded is an allocator that panics for buffers longer than Most: their length comes
// from a damaged file, and an attempt to allocate it could end the process. Decoders have no
// errors for allocations, so their callers turn the panic into an error: see [Recovered].
//
// It is as safe for concurrent use as the allocator in it.
type Bounded struct {
	arrowmemory.Allocator
	Most int
}

// Allocate implements arrowmemory.Allocator.
func (b Bounded) Allocate(size int) []byte {
	b.check(size)
	return b.Allocator.Allocate(size)
}

// AllocateUninitialized returns memory that may have any contents, if the allocator has such.
func (b Bounded) AllocateUninitialized(size int) []byte {
	if m, ok := b.Allocator.(interface{ AllocateUninitialized(int) []byte }); ok {
		b.check(size)
		return m.AllocateUninitialized(size)
	}
	return b.Allocate(size)
}

// Reallocate implements arrowmemory.Allocator.
func (b Bounded) Reallocate(size int, old []byte) []byte {
	b.check(size)
	return b.Allocator.Reallocate(size, old)
}

func (b Bounded) check(size int) {
	if size < 0 || size > b.Most {
		panic(fmt.Sprintf("a buffer of %d bytes, expected at most %d", size, b.Most))
	}
}
