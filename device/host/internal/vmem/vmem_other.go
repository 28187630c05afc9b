//go:build !linux

package vmem

import "errors"

var errNone = errors.New("memory is mapped on Linux only so far")

// Supported reports whether the system can map memory as this package does.
func Supported() bool { return false }

// Memory is memory without an address.
type Memory struct{}

// Create fails.
func Create(uint64) (Memory, error) { return Memory{}, errNone }

// Close fails.
func (Memory) Close() error { return errNone }

// Reserve fails.
func Reserve(bytes, alignment uint64) (uintptr, error) { return 0, errNone }

// Free fails.
func Free(base uintptr, bytes uint64) error { return errNone }

// Map fails.
func (Memory) Map(base uintptr, bytes, offset uint64) error { return errNone }

// Access fails.
func Access(base uintptr, bytes uint64) error { return errNone }

// Unmap fails.
func Unmap(base uintptr, bytes uint64) error { return errNone }
