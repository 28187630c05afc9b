package device

import "github.com/gpuframe/gpuframe/device/backend"

// The nouns that a device shares with its backend. They are described there.
type (
	Pointer           = backend.Pointer
	Info              = backend.Info
	Kind              = backend.Kind
	MemoryKind        = backend.MemoryKind
	PointerInfo       = backend.PointerInfo
	UUID              = backend.UUID
	ComputeCapability = backend.ComputeCapability
	Attribute         = backend.Attribute
	Dim3              = backend.Dim3
)

// Kinds of devices.
const (
	Host = backend.Host
	CUDA = backend.CUDA
)

// Kinds of memory.
const (
	MemoryUnknown = backend.MemoryUnknown
	MemoryDevice  = backend.MemoryDevice
	MemoryPinned  = backend.MemoryPinned
	MemoryManaged = backend.MemoryManaged
	MemoryHost    = backend.MemoryHost
)

// The conditions to test for with errors.Is. They are described in package
// backend.
var (
	ErrNotAvailable = backend.ErrNotAvailable
	ErrNotSupported = backend.ErrNotSupported
	ErrNoDevice     = backend.ErrNoDevice
	ErrDeviceLost   = backend.ErrDeviceLost
	ErrOutOfMemory  = backend.ErrOutOfMemory
	ErrInvalidValue = backend.ErrInvalidValue
	ErrClosed       = backend.ErrClosed
	ErrCapturing    = backend.ErrCapturing
)
