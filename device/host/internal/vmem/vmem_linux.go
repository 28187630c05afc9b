package vmem

import (
	"fmt"
	"math"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gpuframe/gpuframe/internal/base/address"
)

// Supported reports whether the system can map memory as this package does. A kernel
// before 3.17, or a sandbox, may lack unnamed files.
var Supported = sync.OnceValue(func() bool {
	memory, err := Create(Granularity)
	if err != nil {
		return false
	}
	return memory.Close() == nil
})

// Memory is memory without an address. It exists until it is closed and its last
// mapping is removed.
type Memory struct {
	file             int
	shared, readOnly bool
}

// Create creates memory with zero bytes. It takes system memory as it is first written.
func Create(bytes uint64) (Memory, error) {
	if bytes > math.MaxInt64 {
		return Memory{}, unix.EFBIG
	}
	return create(bytes, 0)
}

func create(bytes uint64, flags int) (Memory, error) {
	file, err := unix.MemfdCreate("gpuframe", unix.MFD_CLOEXEC|flags)
	if err != nil {
		return Memory{}, fmt.Errorf("memfd_create: %w", err)
	}
	if err := unix.Ftruncate(file, int64(bytes)); err != nil {
		_ = unix.Close(file)
		return Memory{}, fmt.Errorf("ftruncate: %w", err)
	}
	return Memory{file: file}, nil
}

// Close closes m. Its mappings stay.
func (m Memory) Close() error {
	if err := unix.Close(m.file); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// reserved are the flags of a mapping that only reserves addresses.
const reserved = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE

// Reserve reserves a range of addresses. The alignment is a power of two.
func Reserve(bytes, alignment uint64) (uintptr, error) {
	// The system aligns to a page. A range that is longer by the alignment contains an
	// aligned one; the rest is unmapped.
	if bytes > math.MaxInt-alignment {
		return 0, unix.ENOMEM
	}
	length := uintptr(bytes + alignment)
	pointer, err := unix.MmapPtr(-1, 0, nil, length, unix.PROT_NONE, reserved)
	if err != nil {
		return 0, fmt.Errorf("mmap: %w", err)
	}
	start := uintptr(pointer)
	before := -start & uintptr(alignment-1)
	base := start + before
	after := length - before - uintptr(bytes)
	if err := Free(start, uint64(before)); err != nil {
		_ = Free(start, uint64(length))
		return 0, err
	}
	if err := Free(base+uintptr(bytes), uint64(after)); err != nil {
		_ = Free(base, bytes+uint64(after))
		return 0, err
	}
	return base, nil
}

// Free frees a range of addresses with its mappings.
func Free(base uintptr, bytes uint64) error {
	if bytes == 0 {
		return nil
	}
	if err := unix.MunmapPtr(address.Pointer(base), uintptr(bytes)); err != nil {
		return fmt.Errorf("munmap: %w", err)
	}
	return nil
}

// Map maps memory at reserved addresses without access.
func (m Memory) Map(base uintptr, bytes, offset uint64) error {
	_, err := unix.MmapPtr(m.file, int64(offset), address.Pointer(base), uintptr(bytes), unix.PROT_NONE, unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	return nil
}

// Access permits reading and, if writing is true, writing.
func Access(base uintptr, bytes uint64, writing bool) error {
	protection := unix.PROT_READ
	if writing {
		protection |= unix.PROT_WRITE
	}
	if err := unix.Mprotect(address.Bytes(base, bytes), protection); err != nil {
		return fmt.Errorf("mprotect: %w", err)
	}
	return nil
}

// Unmap turns mapped addresses into reserved ones. They never lack a mapping in
// between, so the system cannot give them to another caller.
func Unmap(base uintptr, bytes uint64) error {
	_, err := unix.MmapPtr(-1, 0, address.Pointer(base), uintptr(bytes), unix.PROT_NONE, reserved|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	return nil
}
