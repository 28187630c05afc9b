//go:build !cgo || 386 || arm || mips || mipsle

package cabi

import "unsafe"

// Available reports whether this build can exchange arrays.
const Available = false

var ownSchemaRelease, ownArrayRelease uintptr

// ReleaseSchema cannot call C in this build and does nothing.
func ReleaseSchema(*Schema) {}

// ReleaseArray cannot call C in this build and does nothing.
func ReleaseArray(*Array) {}

func beginTree(uintptr, int, uint64) (uint64, unsafe.Pointer) { return 0, nil }

func dropTree(uint64) {}

func treeOwner(uint64) uint64 { return 0 }
