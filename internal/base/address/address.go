package address

import "unsafe"

// Pointer returns a pointer to the address. The memory must not be Go memory, or must
// be kept alive by other means: the word is not a reference.
//
// The conversion goes through memory because `go vet` cannot distinguish such an
// address from a Go pointer hidden in an integer.
func Pointer[Word ~uintptr](word Word) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&word))
}

// Bytes returns length bytes at an address as a slice, under the rules of [Pointer].
func Bytes[Word ~uintptr](word Word, length uint64) []byte {
	if length == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(Pointer(word)), length)
}
