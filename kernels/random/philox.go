package random

import "math/bits"

// The multipliers and the steps of the key of Philox4x32.
const (
	multiplier0, multiplier1 = 0xD2511F53, 0xCD9E8D57
	step0, step1             = 0x9E3779B9, 0xBB67AE85
	rounds                   = 10
)

// block returns Philox4x32-10 of a counter and a key.
func block(counter [4]uint32, key [2]uint32) [4]uint32 {
	for range rounds {
		high0, low0 := bits.Mul32(multiplier0, counter[0])
		high1, low1 := bits.Mul32(multiplier1, counter[2])
		counter = [4]uint32{high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0}
		key[0], key[1] = key[0]+step0, key[1]+step1
	}
	return counter
}

// word returns value number n for a seed.
func word(seed, n uint64) uint64 {
	words := block([4]uint32{uint32(n), uint32(n >> 32)}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return uint64(words[1])<<32 | uint64(words[0])
}
