package column

import "unsafe"

// typed returns bytes as integers, if they are aligned: a loop over integers takes a
// third of the time of one that reads them as bytes.
func typed[T int32 | int64 | uint8 | uint16 | uint32 | uint64](bytes []byte) (values []T, ok bool) {
	var zero T
	width := unsafe.Sizeof(zero)
	if len(bytes) < int(width) {
		return nil, true
	}
	pointer := unsafe.Pointer(unsafe.SliceData(bytes))
	if uintptr(pointer)%unsafe.Alignof(zero) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(pointer), len(bytes)/int(width)), true
}

// descends reports whether one of the values is less than its predecessor or
// negative. It reads all of them, without a branch for each.
func descends[T int32 | int64](values []T) bool {
	if len(values) == 0 {
		return false
	}
	var any T
	at := values[0]
	for len(values) >= 4 {
		a, b, c, d := values[0], values[1], values[2], values[3]
		// The difference of two non-negative values does not overflow, and the sign
		// bit of a negative value is set.
		any |= (a - at) | (b - a) | (c - b) | (d - c) | at | a | b | c | d
		at = d
		values = values[4:]
	}
	for _, value := range values {
		any |= (value - at) | value | at
		at = value
	}
	return any < 0
}

// most returns the largest of some values.
func most[T uint8 | uint16 | uint32 | uint64](values []T) uint64 {
	var a, b, c, d T
	for len(values) >= 4 {
		a, b, c, d = max(a, values[0]), max(b, values[1]), max(c, values[2]), max(d, values[3])
		values = values[4:]
	}
	for _, value := range values {
		a = max(a, value)
	}
	return uint64(max(a, b, c, d))
}
