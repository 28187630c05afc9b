package device

import "github.com/gpuframe/gpuframe/device/backend"

// The types that a device shares with its backend. Package backend documents them.
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

// The errors to test for with errors.Is. Package backend documents them.
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
