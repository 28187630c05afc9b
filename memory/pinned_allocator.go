package memory

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
)

// PinnedAllocator is an allocator for arrow-go (its memory.Allocator) that places
// buffers in pinned host memory. Data that Arrow, CSV and Parquet readers decode
// with it is transferred to the device without staging.
//
// Pinning memory is slow, so the allocator keeps freed memory for later requests:
// small buffers share slabs, large ones are kept whole. If the limit is reached, or
// the driver cannot pin more memory, the allocator returns pageable memory, which is
// staged as usual. It never fails and is safe for concurrent use.
//
// # Ownership
//
// Buffers live until they are freed or the allocator is closed. The garbage
// collector does not free them, so release the arrays that were read with it.
//
// For Parquet pass it to pqarrow.NewFileReader, which creates the arrays, and not to
// parquet.NewReaderProperties: arrow-go v17 reads dictionary pages after it has
// freed them, which is safe only with garbage-collected memory.
type PinnedAllocator struct {
	device *device.Device
	limit  uint64

	mu     sync.Mutex
	closed bool
	// free holds idle buffers by size class; live maps the buffers in use to their
	// slabs.
	free   map[uint64][]pinnedBuffer
	live   map[unsafe.Pointer]*slab
	slabs  []*slab
	pinned uint64
	inUse  uint64
}

// slab is one allocation of the driver, divided into buffers of one class.
type slab struct {
	pointer      unsafe.Pointer
	class, bytes uint64
	// live counts the buffers in use.
	live int
}

type pinnedBuffer struct {
	pointer unsafe.Pointer
	slab    *slab
}

const (
	smallestPinnedClass = 64
	// largestSlabClass is the largest buffer that shares a slab with others.
	largestSlabClass = 512 << 10
	slabBytes        = 4 << 20
)

// NewPinnedAllocator returns an allocator that pins at most limit bytes; zero means
// no limit. The caller must close it after releasing everything that was read with
// it.
func NewPinnedAllocator(dev *device.Device, limit uint64) *PinnedAllocator {
	return &PinnedAllocator{
		device: dev, limit: limit,
		free: make(map[uint64][]pinnedBuffer), live: make(map[unsafe.Pointer]*slab),
	}
}

// Allocate returns size zeroed bytes, aligned to 64. It returns nil if size is less
// than one.
func (a *PinnedAllocator) Allocate(size int) []byte {
	memory := a.AllocateUninitialized(size)
	clear(memory)
	return memory
}

// AllocateUninitialized is Allocate without zeroing, for callers that write every
// byte: the contents are undefined.
func (a *PinnedAllocator) AllocateUninitialized(size int) []byte {
	if size <= 0 {
		return nil
	}
	pointer := a.take(pinnedClass(uint64(size)))
	if pointer == nil {
		return alignedOrdinary(size)
	}
	return unsafe.Slice((*byte)(pointer), size)
}

// Reallocate returns a buffer of size bytes that begins with the bytes of b. It
// frees b if the result is a different buffer.
func (a *PinnedAllocator) Reallocate(size int, b []byte) []byte {
	if room := a.room(b); size >= 0 && uint64(size) <= room {
		resized := unsafe.Slice(unsafe.SliceData(b), size)
		clear(resized[min(len(b), size):])
		return resized
	}
	grown := a.Allocate(size)
	copy(grown, b)
	a.Free(b)
	return grown
}

// room returns the length to which a buffer can grow in place.
func (a *PinnedAllocator) room(b []byte) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slab, ok := a.live[unsafe.Pointer(unsafe.SliceData(b))]; ok {
		return slab.class
	}
	return uint64(cap(b))
}

// Free returns a buffer to the allocator. Pageable memory is left to the garbage
// collector.
func (a *PinnedAllocator) Free(b []byte) {
	pointer := unsafe.Pointer(unsafe.SliceData(b))
	a.mu.Lock()
	defer a.mu.Unlock()
	slab, ok := a.live[pointer]
	if !ok {
		return
	}
	delete(a.live, pointer)
	slab.live--
	a.inUse -= slab.class
	a.free[slab.class] = append(a.free[slab.class], pinnedBuffer{pointer, slab})
}

// InUse returns the bytes of pinned memory that buffers hold now, including
// rounding.
func (a *PinnedAllocator) InUse() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inUse
}

// Pinned returns the bytes that are pinned now.
func (a *PinnedAllocator) Pinned() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pinned
}

// Trim unpins slabs that have no buffer in use until at most keep bytes are pinned,
// and returns the number of bytes unpinned. Without Trim only the limit of
// [NewPinnedAllocator] bounds the memory that is kept.
func (a *PinnedAllocator) Trim(keep uint64) (released uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var failures []error
	gone := make(map[*slab]bool)
	a.slabs = slices.DeleteFunc(a.slabs, func(s *slab) bool {
		if s.live > 0 || a.pinned <= keep {
			return false
		}
		if err := a.device.Driver().HostFree(s.pointer); err != nil {
			failures = append(failures, fmt.Errorf("memory: trim pinned allocator: %w", err))
			return false
		}
		a.pinned -= s.bytes
		released += s.bytes
		gone[s] = true
		return true
	})
	for class, idle := range a.free {
		a.free[class] = slices.DeleteFunc(idle, func(buffer pinnedBuffer) bool { return gone[buffer.slab] })
	}
	return released, errors.Join(failures...)
}

// Close unpins all memory. If buffers are still in use it returns an error that
// wraps [ErrLeak] and leaves the memory pinned.
func (a *PinnedAllocator) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return fmt.Errorf("memory: close pinned allocator: %w", ErrClosed)
	}
	a.closed = true
	if len(a.live) > 0 {
		return fmt.Errorf("memory: close pinned allocator: %d buffers of %d bytes: %w", len(a.live), a.inUse, ErrLeak)
	}
	var failures []error
	for _, slab := range a.slabs {
		failures = append(failures, a.device.Driver().HostFree(slab.pointer))
	}
	a.slabs, a.free, a.pinned = nil, nil, 0
	return errors.Join(failures...)
}

// take returns an idle buffer of the class, pinning more memory if necessary, or nil
// if no more memory may or can be pinned.
func (a *PinnedAllocator) take(class uint64) unsafe.Pointer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || len(a.free[class]) == 0 && !a.pin(class) {
		return nil
	}
	idle := a.free[class]
	buffer := idle[len(idle)-1]
	a.free[class] = idle[:len(idle)-1]
	a.live[buffer.pointer] = buffer.slab
	buffer.slab.live++
	a.inUse += class
	return buffer.pointer
}

// pin allocates a slab from the driver and divides it into buffers of the class.
func (a *PinnedAllocator) pin(class uint64) bool {
	bytes, count := class, uint64(1)
	if class <= largestSlabClass {
		bytes, count = slabBytes, slabBytes/class
	}
	if a.limit > 0 && (bytes > a.limit || a.pinned > a.limit-bytes) {
		return false
	}
	pointer, err := a.device.Driver().HostAlloc(bytes)
	if err != nil {
		return false
	}
	made := &slab{pointer: pointer, class: class, bytes: bytes}
	a.slabs = append(a.slabs, made)
	a.pinned += bytes
	for i := range count {
		a.free[class] = append(a.free[class], pinnedBuffer{unsafe.Add(pointer, i*class), made})
	}
	return true
}

// pinnedClass rounds a size up to one of four steps between powers of two, so that
// at most a fifth of a large buffer is wasted.
func pinnedClass(size uint64) uint64 {
	if size <= smallestPinnedClass {
		return smallestPinnedClass
	}
	step := uint64(1) << max(bits.Len64(size-1)-3, 6)
	return (size + step - 1) &^ (step - 1)
}

// alignedOrdinary returns Go memory with the alignment that Arrow recommends.
func alignedOrdinary(size int) []byte {
	const alignment = 64
	memory := make([]byte, size+alignment)
	misaligned := int(uintptr(unsafe.Pointer(&memory[0])) % alignment)
	start := (alignment - misaligned) % alignment
	return memory[start : start+size : start+size]
}
