//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"unsafe"

	"gorgonia.org/cu"
)

// The binding's handles are structs of one C pointer that nothing outside it can
// read or set. Here they are words, as package backend has them: the same bits.

type handle interface {
	cu.CUContext | cu.Stream | cu.Event | cu.Module | cu.Function
}

// These fail to compile if a handle is no longer one word. A test looks at the
// fields.
const (
	wordBytes = unsafe.Sizeof(uintptr(0))

	_ = -(unsafe.Sizeof(cu.CUContext{}) ^ wordBytes)
	_ = -(unsafe.Sizeof(cu.Stream{}) ^ wordBytes)
	_ = -(unsafe.Sizeof(cu.Event{}) ^ wordBytes)
	_ = -(unsafe.Sizeof(cu.Module{}) ^ wordBytes)
	_ = -(unsafe.Sizeof(cu.Function{}) ^ wordBytes)
)

// word returns the bits of a handle.
func word[h handle](of h) uintptr { return *(*uintptr)(unsafe.Pointer(&of)) }

// leastPointer is what Go takes for the smallest address there can be.
const leastPointer = 4096

// fromWord makes a handle of its bits. A small number is no pointer: Go ends the
// process where it finds one on a stack in a pointer's place. It becomes zero,
// which every call refuses or takes for the default stream.
func fromWord[h handle](bits uintptr) h {
	if bits < leastPointer {
		bits = 0
	}
	return *(*h)(unsafe.Pointer(&bits))
}
