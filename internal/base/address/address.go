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

// BytesOf returns the memory of values as bytes, nil for none.
func BytesOf[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), uintptr(len(values))*unsafe.Sizeof(values[0]))
}

// ValuesOf returns memory as values: as many as it holds whole, and nil for none. Its
// address has their alignment.
func ValuesOf[T any](bytes []byte) []T {
	count := uintptr(len(bytes)) / unsafe.Sizeof(*new(T))
	if count == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), count)
}
