package bestfit

import "math/bits"

// Sizes are divided into classes in ascending order: below a grain one class for
// each power of two; up to fineLimit one for each multiple of the grain; above it
// 1<<stepBits for each doubling.
const (
	grainBits = 9
	limitBits = 20
	stepBits  = 4

	// fineLimit is the largest multiple of the grain with a class that is one grain
	// wide.
	fineLimit = 1 << limitBits
	// firstFine is added to the number of grains, which is at least 1.
	firstFine   = grainBits - 1
	firstCoarse = firstFine + fineLimit>>grainBits + 1
	classCount  = firstCoarse + (64-limitBits)<<stepBits
)

// classOf returns the class of a size and the base-2 logarithm of the class's width.
// The size must not be 0. The width is at most the smallest size in the class.
func classOf(bytes uint64) (class, width uint) {
	if bytes-1<<grainBits < fineLimit { // below a grain the difference wraps
		return uint(bytes>>grainBits) + firstFine, grainBits
	}
	exponent := uint(bits.Len64(bytes)) - 1
	if exponent < grainBits {
		return exponent, exponent
	}
	width = exponent - stepBits
	step := uint(bytes>>width) & (1<<stepBits - 1)
	return firstCoarse + (exponent-limitBits)<<stepBits + step, width
}

// keyOf returns the key of a run within its class. The keys of runs that do not
// overlap are ordered by size and then by address. The bits of the size above the
// width are equal within a class. Addresses differ by at least the width, because
// the runs are at least that long.
func keyOf(bytes, address uint64, width uint) uint64 {
	return bytes<<(64-width) | address>>width
}

// bitmap records the classes that hold runs. One word summarizes the others.
type bitmap struct {
	summary uint64
	words   [(classCount + 63) / 64]uint64
}

func (b *bitmap) set(class uint) {
	b.words[class/64] |= 1 << (class % 64)
	b.summary |= 1 << (class / 64)
}

func (b *bitmap) clear(class uint) {
	word := &b.words[class/64]
	if *word &^= 1 << (class % 64); *word == 0 {
		b.summary &^= 1 << (class / 64)
	}
}

// after returns the first non-empty class above the given one.
func (b *bitmap) after(class uint) (next uint, ok bool) {
	index := class / 64
	// A shift by 64 gives 0, so the last class of a word is not a special case.
	if word := b.words[index] >> (class%64 + 1) << (class%64 + 1); word != 0 {
		return index*64 + uint(bits.TrailingZeros64(word)), true
	}
	summary := b.summary >> (index + 1) << (index + 1)
	if summary == 0 {
		return 0, false
	}
	index = uint(bits.TrailingZeros64(summary))
	return index*64 + uint(bits.TrailingZeros64(b.words[index])), true
}

// last returns the highest non-empty class. At least one class must hold runs.
func (b *bitmap) last() (class uint) {
	index := uint(bits.Len64(b.summary)) - 1
	return index*64 + uint(bits.Len64(b.words[index])) - 1
}
