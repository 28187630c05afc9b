//go:build cgo && !(386 || arm || mips || mipsle)

package forks

/*
#cgo noescape gpuframe_watch_forks
#cgo nocallback gpuframe_watch_forks

#include "forks.h"
*/
import "C"

import "unsafe"

// Watch makes forks set a flag in their children, and returns the address of the flag, a
// volatile int of C. Further calls return the same address. The result is nil if C has
// no memory.
func Watch() unsafe.Pointer { return unsafe.Pointer(C.gpuframe_watch_forks()) }
