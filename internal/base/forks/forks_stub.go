//go:build !cgo || 386 || arm || mips || mipsle

package forks

import "unsafe"

// Watch returns nil: this build has no C code.
func Watch() unsafe.Pointer { return nil }
