package column

import (
	"strings"
	"unsafe"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// uninitialized is an allocator that can omit the zeros. Every byte of a downloaded
// buffer is written, and clearing a gigabyte takes five times as long as fetching it.
type uninitialized interface {
	AllocateUninitialized(size int) []byte
}

// outputAllocator returns an allocator for buffers that will be overwritten entirely.
func outputAllocator(users arrowmemory.Allocator) arrowmemory.Allocator {
	switch a := users.(type) {
	case nil:
		return collected{arrowmemory.DefaultAllocator}
	case uninitialized:
		return overwritten{users, a}
	}
	return users
}

// overwritten is a user's allocator that omits the zeros.
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

// smallestUncleared is the length from which clearing takes longer than the use of a
// strings.Builder. It is above the size classes of Go's allocator, so that the memory
// begins at a page.
const smallestUncleared = 64 << 10

// Allocate implements arrow-go's Allocator. The standard library has one way to get
// garbage-collected memory that is not cleared: the growth of a strings.Builder.
func (c collected) Allocate(size int) []byte {
	if size < smallestUncleared {
		return c.Allocator.Allocate(size)
	}
	var builder strings.Builder
	builder.Grow(size)
	builder.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(builder.String()), size)
}
