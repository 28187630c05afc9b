package exprtree

import (
	"encoding/binary"
	"math"
)

// Hash is computed from 64-bit words. For a row
//
//	h = HashSeed
//	for every word w of every operand, in order: h = HashWord(h, w)
//
// and h is the result. The words of an operand are
//
//   - for a null of any type: HashNull
//   - for bool 0 or 1; for integers and temporal values the value, sign- or zero-extended
//     to 64 bits
//   - for floats the bits of the value as a float64, with −0 replaced by 0 and every NaN
//     by the one with the bits of HashNaN; so equal float32 and float64 hash alike
//   - for decimals the low word of the unscaled value, then the high word
//   - for strings the bytes, eight per word and little-endian, the last word filled
//     up with zeros, and then the length in bytes. For a dictionary these are the words
//     of the value that the index selects; an index out of range hashes as null.
//
// HashWord is the finaliser of SplitMix64 (Steele, Lea and Flood 2014, with the
// constants of Stafford's variant 13), applied to the sum of h and the golden ratio's
// increment, exclusive-or the word.
const (
	HashSeed uint64 = 0x6770_7566_7261_6d65
	HashNull uint64 = 0x9ae1_6a3b_2f90_404f
	HashNaN  uint64 = 0x7ff8_0000_0000_0000

	HashIncrement  uint64 = 0x9e37_79b9_7f4a_7c15
	HashMultiplier uint64 = 0xbf58_476d_1ce4_e5b9
	HashSecond     uint64 = 0x94d0_49bb_1331_11eb
)

// HashWord adds a word to a hash.
func HashWord(h, word uint64) uint64 {
	x := (h + HashIncrement) ^ word
	x = (x ^ x>>30) * HashMultiplier
	x = (x ^ x>>27) * HashSecond
	return x ^ x>>31
}

// HashFloat returns the word of a float.
func HashFloat(value float64) uint64 {
	switch {
	case value != value:
		return HashNaN
	case value == 0:
		return 0
	}
	return math.Float64bits(value)
}

// HashBytes adds the words of a string to a hash.
func HashBytes[T string | []byte](h uint64, value T) uint64 {
	i := 0
	for ; i+8 <= len(value); i += 8 {
		h = HashWord(h, binary.LittleEndian.Uint64([]byte(value[i:i+8])))
	}
	if i < len(value) {
		var last [8]byte
		copy(last[:], value[i:])
		h = HashWord(h, binary.LittleEndian.Uint64(last[:]))
	}
	return HashWord(h, uint64(len(value)))
}
