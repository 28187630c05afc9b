package pinned

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

const (
	// Line is the size of the smallest buffer. Buffers of two users never share a cache
	// line.
	Line = 64
	// largestShared is the largest buffer that shares its slab with others.
	largestShared = 512 << 10
	slabBytes     = 4 << 20
	// firstLines is the first slab of lines: a program that needs a word for a result
	// must not wait until megabytes are pinned. Later slabs grow by the factor below.
	firstLines  = 4096
	linesGrowth = 16
	// firstShared is the least first slab of the other shared classes, which holds two
	// buffers or more. Later slabs grow by the factor.
	firstShared  = 64 << 10
	sharedGrowth = 4
)

// slab is one allocation of the driver, divided into buffers of one class.
type slab struct {
	class   *class
	pointer unsafe.Pointer
	bytes   uint64
	// live counts the buffers in use.
	live uint64
}

// class has the slabs with buffers of one size. The pool's lock guards it.
type class struct {
	bytes uint64
	free  []Buffer
	slabs []*slab
	// next is the size of the next slab. whole reports whether each slab is one buffer.
	next  uint64
	whole bool
	// pinning is held while a slab with several buffers is pinned, so that concurrent
	// callers share it.
	pinning sync.Mutex
}

// Buffer is a part of a slab, which belongs to the caller of Take until it is put back.
type Buffer struct {
	pointer unsafe.Pointer
	slab    *slab
}

// Pointer returns the address of the buffer, which is the same on the device.
func (b Buffer) Pointer() unsafe.Pointer { return b.pointer }

// Bytes returns the size of the buffer, which may be larger than requested.
func (b Buffer) Bytes() uint64 { return b.slab.class.bytes }

// Round returns the size of the buffer that Take returns for a size: one of four steps
// between powers of two, so that at most a fifth of a large buffer is wasted.
func Round(size uint64) uint64 {
	if size <= Line {
		return Line
	}
	step := uint64(1) << max(bits.Len64(size-1)-3, 6)
	return (size + step - 1) &^ (step - 1)
}

// newShared makes a class with slabs of several buffers.
func newShared(bytes uint64) *class {
	return &class{bytes: bytes, next: min(max(2*bytes, firstShared), slabBytes)}
}

// newWhole makes a class with slabs of one buffer each.
func newWhole(bytes uint64) *class { return &class{bytes: bytes, next: bytes, whole: true} }

// pop takes the buffer that was put back last.
func (c *class) pop() (Buffer, bool) {
	last := len(c.free) - 1
	if last < 0 {
		return Buffer{}, false
	}
	b := c.free[last]
	c.free = c.free[:last]
	b.slab.live++
	return b, true
}

// add divides a new slab into buffers.
func (c *class) add(s *slab) {
	c.slabs = append(c.slabs, s)
	for offset := uint64(0); offset+c.bytes <= s.bytes; offset += c.bytes {
		c.free = append(c.free, Buffer{unsafe.Add(s.pointer, offset), s})
	}
}

// remove removes a slab without a buffer in use.
func (c *class) remove(s *slab) {
	c.slabs = slices.DeleteFunc(c.slabs, func(other *slab) bool { return other == s })
	c.free = slices.DeleteFunc(c.free, func(b Buffer) bool { return b.slab == s })
}
