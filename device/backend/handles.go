package backend

import "fmt"

// Pointer is an address in the memory of a device. It is not a Go pointer: the garbage
// collector ignores it and it must not be dereferenced. The zero Pointer is no memory.
type Pointer uintptr

// Add returns the address bytes after p.
func (p Pointer) Add(bytes uint64) Pointer { return p + Pointer(bytes) }

// String formats p as a hexadecimal address.
func (p Pointer) String() string { return fmt.Sprintf("%#x", uintptr(p)) }

// Stream is an ordered queue of work on a device. The zero Stream is the device's
// default stream; for CUDA that is the legacy default stream.
type Stream uintptr

// Event marks a point in the work of a stream.
type Event uintptr

// Pool is a stream-ordered memory pool of the driver.
type Pool uintptr

// Module is device code loaded onto one device.
type Module uintptr

// Graph is work that was captured from a stream. ExecutableGraph is its executable
// form.
type (
	Graph           uintptr
	ExecutableGraph uintptr
)

// Function is a kernel of a Module.
type Function uintptr

// Physical is a piece of device memory without an address, which [VirtualMemory] maps.
// The zero Physical is invalid. CUDA's handle has 64 bits on every platform.
type Physical uint64
