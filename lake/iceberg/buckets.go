package iceberg

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// hasBucket returns a function that reports whether a value is in a bucket of several.
func hasBucket(bucket, buckets int64) func(value any) bool {
	return func(value any) bool {
		switch v := value.(type) {
		case int64:
			return bucketOf(binary.LittleEndian.AppendUint64(nil, uint64(v)), buckets) == bucket
		case []byte:
			return bucketOf(v, buckets) == bucket
		}
		return true
	}
}

// bucketOf is the bucket of the bytes of a value.
func bucketOf(data []byte, buckets int64) int64 {
	return int64(murmur3(data)&math.MaxInt32) % buckets
}

// murmur3 is the hash of 32 bits with the seed 0, by which Iceberg divides values.
func murmur3(data []byte) uint32 {
	hash, length := uint32(0), uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		hash = bits.RotateLeft32(hash^murmurMix(binary.LittleEndian.Uint32(data)), 13)*5 + 0xe6546b64
	}
	var tail [4]byte
	copy(tail[:], data)
	hash ^= murmurMix(binary.LittleEndian.Uint32(tail[:])) ^ length
	hash = (hash ^ hash>>16) * 0x85ebca6b
	hash = (hash ^ hash>>13) * 0xc2b2ae35
	return hash ^ hash>>16
}

func murmurMix(word uint32) uint32 {
	return bits.RotateLeft32(word*0xcc9e2d51, 15) * 0x1b873593
}
