package soak

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/device"
)

// ErrCorruption: memory did not hold what had been written to it. The error is a
// [*CorruptionError].
var ErrCorruption = errors.New("memory is corrupted")

// Mismatch is a word of memory that did not hold what had been written.
type Mismatch struct {
	// Writing is what was checked.
	Writing Writing
	// Address and Bytes are those of the block, Offset is the word's in it.
	Address       device.Pointer
	Bytes, Offset uint64
	// Expected and Found are the word as it was written and as it was read: of
	// eight bytes with Kernels and of four with Copies.
	Expected, Found uint64
	// Other is the writing that Found seems to be of; zero for none.
	Other Writing
	// Stream is the number of the stream on which it was checked.
	Stream int
}

// String says what was found where.
func (m Mismatch) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v in %d bytes at %v, checked on stream %d: offset %d holds %#x, not %#x",
		m.Writing, m.Bytes, m.Address, m.Stream, m.Offset, m.Found, m.Expected)
	if m.Other != 0 {
		fmt.Fprintf(&b, ", as by %v", m.Other)
	}
	return b.String()
}

// CorruptionError tells what a run has found. errors.Is matches it with
// [ErrCorruption].
type CorruptionError struct {
	// Mismatches counts the words that were wrong.
	Mismatches uint64
	// First are some of the first that each goroutine met.
	First []Mismatch
}

// Error names the number of wrong words and some of them.
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
