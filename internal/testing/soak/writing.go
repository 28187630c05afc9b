package soak

import "fmt"

// Writing identifies one writing of a pattern into a block: the number of the
// goroutine, from 0, in the upper half and the number of its writing, from 1, in the
// lower half. Zero means unknown.
type Writing uint64

func newWriting(goroutine int, sequence uint32) Writing {
	return Writing(uint64(goroutine)<<32 | uint64(sequence))
}

// Goroutine returns the number of the writer.
func (w Writing) Goroutine() int { return int(w >> 32) }

// Sequence returns the number of the goroutine's writing, from 1.
func (w Writing) Sequence() uint32 { return uint32(w) }

// String names the writing for messages.
func (w Writing) String() string {
	return fmt.Sprintf("writing %d of goroutine %d", w.Sequence(), w.Goroutine())
}

// known returns w, or zero if none of the given number of goroutines can have made it.
func (w Writing) known(goroutines int) Writing {
	if w.Goroutine() >= goroutines || w.Sequence() == 0 {
		return 0
	}
	return w
}

// Kernels write words of eight bytes: the writing, then the index of the word within
// its block.
const (
	wordBytes = 8
	indexBits = 24
)

func (w Writing) seed() uint64 { return uint64(w) << indexBits }

func writingOfWord(word uint64) Writing { return Writing(word >> indexBits) }

// Fills write one value of four bytes: the goroutine, then the lower bits of the
// sequence. The value repeats after sixteen million writings.
const fillSequenceBits = 24

func (w Writing) fill() uint32 {
	return uint32(w.Goroutine())<<fillSequenceBits | w.Sequence()&(1<<fillSequenceBits-1)
}

func writingOfFill(value uint32) Writing {
	return newWriting(int(value>>fillSequenceBits), value&(1<<fillSequenceBits-1))
}
