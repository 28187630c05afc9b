//go:build !cgo || 386 || arm || mips || mipsle

package cabi

// Available reports whether this build can exchange tensors.
const Available = false

var ownDeleter, ownDeleterVersioned uintptr

// RunDeleter cannot call C in this build and does nothing.
func RunDeleter(*ManagedTensor) {}

// RunDeleterVersioned cannot call C in this build and does nothing.
func RunDeleterVersioned(*ManagedTensorVersioned) {}

func newRecords(int) []Record { return nil }
