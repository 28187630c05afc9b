package memory

import "unsafe"

// Element is the set of element types of a [Slice]: numbers of a fixed width, and the
// fixed-size arrays that represent decimals and intervals. It excludes bool, which
// Arrow packs eight to a byte; int, uint and uintptr, which have a platform-dependent
// width; and all types that hold pointers.
type Element interface {
	~int8 | ~int16 | ~int32 | ~int64 |
		~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128 |
		~[2]uint64 | ~[4]uint64 | ~[16]byte | ~[32]byte
}

func widthOf[T Element]() uint64 {
	var zero T
	return uint64(unsafe.Sizeof(zero))
}
