package adaptor

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
)

// ErrGuard is wrapped by every [*GuardError].
var ErrGuard = errors.New("memory misused")

// Violation is the kind of misuse that a [Guard] found.
type Violation uint8

const (
	// Overlap: the upstream returned memory that is in use.
	Overlap Violation = iota + 1
	// DoubleFree: the allocation was already freed.
	DoubleFree
	// Stale: the allocation was already freed, and its memory now belongs to a later
	// allocation.
	Stale
	// Unknown: the allocation did not come through the guard.
	Unknown
	// Altered: the pointer, length or stream of the allocation was changed.
	Altered
	// WrittenBefore: bytes before the memory were overwritten.
	WrittenBefore
	// WrittenAfter: bytes after the memory were overwritten.
	WrittenAfter
)

// String describes the violation in a few words.
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

// GuardedBlock is an allocation in the records of a [Guard].
type GuardedBlock struct {
	Pointer device.Pointer
	Bytes   uint64
	// Generation counts the allocations of the guard from 1. It is zero for an
	// allocation that is unknown to the guard.
	Generation uint64
}

// String formats the block for messages.
func (b GuardedBlock) String() string {
	return fmt.Sprintf("%s at %v, generation %d", humanize.IBytes(b.Bytes), b.Pointer, b.Generation)
}

// GuardError describes a misuse of memory. It wraps [ErrGuard].
type GuardError struct {
	Violation Violation
	// Block is the allocation that the caller passed or, for Overlap, that the
	// upstream returned.
	Block GuardedBlock
	// Other is the current allocation of the memory for Overlap and Stale, and the
	// original allocation for Altered. Otherwise it is zero.
	Other GuardedBlock
	// Offset is the position of the first overwritten byte, relative to the start of
	// the block: negative for WrittenBefore, the length or more for WrittenAfter,
	// zero otherwise.
	Offset int64
}

// Error names the allocation and the violation.
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
