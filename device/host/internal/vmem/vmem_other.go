//go:build !linux

package vmem

import "errors"

var errNone = errors.New("only Linux can map memory")

// Supported reports whether the system can map memory as this package does.
func Supported() bool { return false }

// CanShare reports whether memory can be shared with other processes.
func CanShare() bool { return false }

// Memory is memory without an address.
type Memory struct{}

// Create fails.
func Create(uint64) (Memory, error) { return Memory{}, errNone }

// CreateShared fails.
func CreateShared(uint64) (Memory, error) { return Memory{}, errNone }

// Import fails.
func Import(int, uint64) (Memory, error) { return Memory{}, errNone }

// Export fails.
func (Memory) Export(bool) (int, error) { return -1, errNone }

// Shared is false.
func (Memory) Shared() bool { return false }

// ReadOnly is false.
func (Memory) ReadOnly() bool { return false }

// Close fails.
func (Memory) Close() error { return errNone }

// Reserve fails.
func Reserve(bytes, alignment uint64) (uintptr, error) { return 0, errNone }

// Free fails.
func Free(base uintptr, bytes uint64) error { return errNone }

// Map fails.
func (Memory) Map(base uintptr, bytes, offset uint64) error { return errNone }

// Access fails.
func Access(base uintptr, bytes uint64, writing bool) error { return errNone }

// Unmap fails.
func Unmap(base uintptr, bytes uint64) error { return errNone }
