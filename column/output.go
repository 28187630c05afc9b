package column

import (
	"strings"
	"unsafe"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// uninitialized is what an allocator has that can leave out the zeros. Every
// byte of a downloaded buffer is written, and to clear a gigabyte takes five
// times as long as to fetch it.
type uninitialized interface {
	AllocateUninitialized(size int) []byte
}

// outputAllocator returns an allocator for buffers that will be overwritten
// whole.
func outputAllocator(users arrowmemory.Allocator) arrowmemory.Allocator {
	switch a := users.(type) {
	case nil:
		return collected{arrowmemory.DefaultAllocator}
	case uninitialized:
		return overwritten{users, a}
	}
	return users
}

// overwritten is a user's allocator that leaves out the zeros.
type overwritten struct {
	arrowmemory.Allocator
	uninitialized
}

// Allocate implements arrow-go's Allocator.
func (o overwritten) Allocate(size int) []byte { return o.AllocateUninitialized(size) }

// collected makes buffers that the garbage collector frees.
type collected struct {
	arrowmemory.Allocator
}

// smallestUncleared is the length from which clearing takes longer than the way
// around it. It is also past the sizes that Go packs together, so that the
// memory begins at a page.
const smallestUncleared = 64 << 10

// Allocate implements arrow-go's Allocator. The standard library has one door to
// memory of the collector's that is not cleared first: what strings.Builder grows
// into.
func (c collected) Allocate(size int) []byte {
	if size < smallestUncleared {
		return c.Allocator.Allocate(size)
	}
	var builder strings.Builder
	builder.Grow(size)
	builder.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(builder.String()), size)
}
