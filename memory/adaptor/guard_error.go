package adaptor

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
)

// ErrGuard is wrapped by every [*GuardError].
var ErrGuard = errors.New("memory misused")

// Violation is what a [Guard] found.
type Violation uint8

const (
	// Overlap: the upstream gave memory that is in use.
	Overlap Violation = iota + 1
	// DoubleFree: the allocation was freed before.
	DoubleFree
	// Stale: the allocation was freed before, and its memory belongs to a later
	// one now.
	Stale
	// Unknown: the allocation did not come through the guard.
	Unknown
	// Altered: the allocation has another pointer, length or stream than it was
	// given with.
	Altered
	// WrittenBefore: bytes in front of the memory were written to.
	WrittenBefore
	// WrittenAfter: bytes behind the memory were written to.
	WrittenAfter
)

// String says what it means in a few words.
func (v Violation) String() string {
	switch v {
	case Overlap:
		return "new memory overlaps memory in use"
	case DoubleFree:
		return "freed before"
	case Stale:
		return "freed before and in use by a later allocation"
	case Unknown:
		return "not allocated here"
	case Altered:
		return "not as it was allocated"
	case WrittenBefore:
		return "written to before its beginning"
	case WrittenAfter:
		return "written to after its end"
	}
	return fmt.Sprintf("Violation(%d)", uint8(v))
}

// GuardedBlock is an allocation as a [Guard] knows it.
type GuardedBlock struct {
	Pointer device.Pointer
	Bytes   uint64
	// Generation counts the allocations of the guard from 1. It is zero for one
	// that the guard does not know.
	Generation uint64
}

// String formats the block for messages.
func (b GuardedBlock) String() string {
	return fmt.Sprintf("%s at %v, generation %d", humanize.Bytes(b.Bytes), b.Pointer, b.Generation)
}

// GuardError says how memory was misused. It wraps [ErrGuard].
type GuardError struct {
	Violation Violation
	// Block is the allocation as the caller had it or, where the violation is
	// Overlap, as the upstream gave it.
	Block GuardedBlock
	// Other is the allocation that the memory belongs to, where the violation is
	// Overlap or Stale, and as it was given, where it is Altered. Otherwise it is
	// zero.
	Other GuardedBlock
	// Offset is where the first overwritten byte lies, counted from the beginning
	// of the block: negative for WrittenBefore, the length or more for
	// WrittenAfter, zero for the others.
	Offset int64
}

// Error names the allocation and what is wrong with it.
func (e *GuardError) Error() string {
	text := fmt.Sprintf("memory/adaptor: guard: %v: %v: %v", e.Block, ErrGuard, e.Violation)
	switch e.Violation {
	case Overlap, Stale, Altered:
		text += fmt.Sprintf(" (%v)", e.Other)
	case WrittenBefore, WrittenAfter:
		text += fmt.Sprintf(", at byte %d", e.Offset)
	}
	return text
}

// Unwrap returns [ErrGuard].
func (e *GuardError) Unwrap() error { return ErrGuard }
