package streamcopy

import "unsafe"

const available = true

// copyLines copies lines of 64 bytes with non-temporal stores and waits until
// they are globally visible. The destination is aligned to 64.
//
//go:noescape
func copyLines(destination, source unsafe.Pointer, lines int)
