//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"unsafe"

	"gorgonia.org/cu"
)

// The binding's handles are structs of one C pointer, which only the binding can read
// or set. This package treats them as words with the same bits, as package backend
// does.

type handle interface {
	cu.CUContext | cu.Stream | cu.Event | cu.Module | cu.Function
}

// These fail to compile if a handle is no longer one word. A test checks the fields.
const (
	wordBytes = unsafe.Sizeof(uintptr(0))

	_ = -(unsafe.Sizeof(cu.CUContext{}) ^ wordBytes)
	_ = -(unsafe.Sizeof(cu.Stream{}) ^ wordBytes)
	_ = -(unsafe.Sizeof(cu.Event{}) ^ wordBytes)
	_ = -(unsafe.Sizeof(cu.Module{}) ^ wordBytes)
	_ = -(unsafe.Sizeof(cu.Function{}) ^ wordBytes)
)

// word returns the bits of a handle.
func word[h handle](value h) uintptr { return *(*uintptr)(unsafe.Pointer(&value)) }

// leastPointer is the smallest valid address for the Go runtime.
const leastPointer = 4096

// fromWord makes a handle from its bits. The Go runtime ends the process if it finds a
// small number in a pointer on a stack. fromWord converts it to zero, which a call
// refuses or treats as the default stream.
func fromWord[h handle](bits uintptr) h {
	if bits < leastPointer {
		bits = 0
	}
	return *(*h)(unsafe.Pointer(&bits))
}
