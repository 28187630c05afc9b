package sketch

import (
	"encoding/binary"
	"math/bits"
)

// seed is the seed of the hashes of all sketches of DataSketches.
const seed = 9001

// The multipliers of MurmurHash3_x64_128.
const (
	murmur1 = 0x87c37b91114253d5
	murmur2 = 0x4cf5ad432745937f
)

// murmur is MurmurHash3_x64_128.
func murmur(data []byte) (h1, h2 uint64) {
	h1, h2 = seed, seed
	length := uint64(len(data))
	for ; len(data) >= 16; data = data[16:] {
		h1 ^= mixLow(binary.LittleEndian.Uint64(data))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mixHigh(binary.LittleEndian.Uint64(data[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], data)
	h2 ^= mixHigh(binary.LittleEndian.Uint64(tail[8:]))
	h1 ^= mixLow(binary.LittleEndian.Uint64(tail[:]))
	h1, h2 = h1^length, h2^length
	h1 += h2
	h2 += h1
	h1, h2 = finish(h1), finish(h2)
	h1 += h2
	return h1, h2 + h1
}

func mixLow(k uint64) uint64  { return bits.RotateLeft64(k*murmur1, 31) * murmur2 }
func mixHigh(k uint64) uint64 { return bits.RotateLeft64(k*murmur2, 33) * murmur1 }

// finish makes each bit depend on all others.
func finish(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
