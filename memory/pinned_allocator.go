package memory

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/pinned"
)

// PinnedAllocator is an allocator for arrow-go (its memory.Allocator) that places
// buffers in pinned host memory. Data that Arrow, CSV and Parquet readers decode
// with it is transferred to the device without staging.
//
// The memory comes from the device's pinned memory, which keeps freed buffers for later
// requests: see [PinnedStats]. If the limit is reached, or the driver cannot pin more
// memory, the allocator returns pageable memory, which is staged as usual. It never
// fails and is safe for concurrent use.
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
	// live has the pinned buffers in use by their address.
	live  map[unsafe.Pointer]pinned.Buffer
	inUse uint64
}

// NewPinnedAllocator returns an allocator whose buffers take at most limit bytes of
// pinned memory; zero means no limit but that of [LimitPinned]. The caller must close
// it after releasing everything that was read with it.
func NewPinnedAllocator(dev *device.Device, limit uint64) *PinnedAllocator {
	return &PinnedAllocator{device: dev, limit: limit, live: make(map[unsafe.Pointer]pinned.Buffer)}
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
	pointer := a.take(uint64(size))
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
	if buffer, ok := a.live[unsafe.Pointer(unsafe.SliceData(b))]; ok {
		return buffer.Bytes()
	}
	return uint64(cap(b))
}

// Free returns a buffer to the device's pinned memory. Pageable memory is left to the
// garbage collector.
func (a *PinnedAllocator) Free(b []byte) {
	pointer := unsafe.Pointer(unsafe.SliceData(b))
	a.mu.Lock()
	buffer, ok := a.live[pointer]
	if ok {
		delete(a.live, pointer)
		a.inUse -= buffer.Bytes()
	}
	a.mu.Unlock()
	if pool, err := pinned.Of(a.device); ok && err == nil {
		pool.Put(buffer)
	}
}

// FreeAll frees all buffers that are in use. It serves callers of a decoder that
// panicked and lost its buffers: no array that was read with the allocator may be in
// use. Later calls of Free with these buffers do nothing.
func (a *PinnedAllocator) FreeAll() {
	a.mu.Lock()
	live := a.live
	a.live, a.inUse = make(map[unsafe.Pointer]pinned.Buffer), 0
	a.mu.Unlock()
	pool, err := pinned.Of(a.device)
	if err != nil {
		return
	}
	for _, buffer := range live {
		pool.Put(buffer)
	}
}

// InUse returns the bytes of pinned memory that buffers hold now, including
// rounding.
func (a *PinnedAllocator) InUse() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inUse
}

// Close unpins the idle pinned memory of the device. If buffers are still in use it
// returns an error that wraps [ErrLeak] and leaves their memory pinned.
func (a *PinnedAllocator) Close() error {
	a.mu.Lock()
	closed, live, inUse := a.closed, len(a.live), a.inUse
	a.closed = true
	a.mu.Unlock()
	if closed {
		return fmt.Errorf("memory: close pinned allocator: %w", ErrClosed)
	}
	if live > 0 {
		return fmt.Errorf("memory: close pinned allocator: %d buffers of %d bytes: %w", live, inUse, ErrLeak)
	}
	_, err := TrimPinned(a.device, 0)
	return err
}

// take returns a buffer, or nil if no more memory may or can be pinned.
func (a *PinnedAllocator) take(size uint64) unsafe.Pointer {
	rounded := pinned.Round(size)
	if !a.reserve(rounded) {
		return nil
	}
	pool, err := pinned.Of(a.device)
	var buffer pinned.Buffer
	if err == nil {
		buffer, err = pool.Take(size)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.inUse -= rounded
		return nil
	}
	a.live[buffer.Pointer()] = buffer
	return buffer.Pointer()
}

// reserve counts a buffer that is about to be taken, unless the limit is reached.
func (a *PinnedAllocator) reserve(bytes uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.limit > 0 && (bytes > a.limit || a.inUse > a.limit-bytes) {
		return false
	}
	a.inUse += bytes
	return true
}

// alignedOrdinary returns Go memory with the alignment that Arrow recommends.
func alignedOrdinary(size int) []byte {
	const alignment = 64
	memory := make([]byte, size+alignment)
	misaligned := int(uintptr(unsafe.Pointer(&memory[0])) % alignment)
	start := (alignment - misaligned) % alignment
	return memory[start : start+size : start+size]
}
