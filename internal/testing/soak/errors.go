package soak

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/device"
)

// ErrCorruption means that memory did not hold the pattern written to it. The error is
// a [*CorruptionError].
var ErrCorruption = errors.New("memory is corrupted")

// Mismatch is a word of memory with a wrong value.
type Mismatch struct {
	// Writing is the writing that was checked.
	Writing Writing
	// Address and Bytes describe the block; Offset is that of the word in the block.
	Address       device.Pointer
	Bytes, Offset uint64
	// Expected and Found are the word as written and as read: eight bytes with Kernels,
	// four with Copies.
	Expected, Found uint64
	// Other is the writing that Found seems to come from; zero if unknown.
	Other Writing
	// Stream is the number of the stream of the check.
	Stream int
}

// String describes the mismatch.
func (m Mismatch) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v in %d bytes at %v, checked on stream %d: offset %d holds %#x, not %#x",
		m.Writing, m.Bytes, m.Address, m.Stream, m.Offset, m.Found, m.Expected)
	if m.Other != 0 {
		fmt.Fprintf(&b, ", as by %v", m.Other)
	}
	return b.String()
}

// CorruptionError reports the mismatches of a run. errors.Is matches it with
// [ErrCorruption].
type CorruptionError struct {
	// Mismatches is the number of wrong words.
	Mismatches uint64
	// First holds some of the first mismatches of each goroutine.
	First []Mismatch
}

// Error formats the number of wrong words and some of them.
func (e *CorruptionError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %d words differ from what was written", ErrCorruption, e.Mismatches)
	const named = 10
	for _, mismatch := range e.First[:min(named, len(e.First))] {
		fmt.Fprintf(&b, "\n%v", mismatch)
	}
	return b.String()
}

// Is reports whether target is [ErrCorruption].
func (e *CorruptionError) Is(target error) bool { return target == ErrCorruption }
