package hostread

import (
	"encoding/binary"
	"unsafe"

	"github.com/gpuframe/gpuframe/internal/base/address"
)

// Words fills the slice from an address. It returns false if the system reports that
// the memory cannot be read. Systems other than Linux, and containers that forbid the
// call, cannot report that: there Words trusts the address.
func Words(words []int64, at uintptr) bool {
	if len(words) == 0 {
		return true
	}
	switch readByKernel(words, at) {
	case unreadable:
		return false
	case unknown:
		Trusted(words, at)
	}
	return true
}

// Trusted is [Words] for an address that is known to be readable.
func Trusted(words []int64, at uintptr) {
	if len(words) > 0 {
		copy(words, unsafe.Slice((*int64)(address.Pointer(at)), len(words)))
	}
}

// Int64s returns the words in bytes.
func Int64s(bytes []byte) []int64 {
	const width = 8
	words := make([]int64, len(bytes)/width)
	for i := range words {
		words[i] = int64(binary.NativeEndian.Uint64(bytes[i*width:]))
	}
	return words
}

// outcome is the result of a read by the system.
type outcome uint8

const (
	readable outcome = iota
	unreadable
	unknown
)
