// Libgpuframe is the shared library that the Python package gpuframe stands on.
//
//	go build -buildmode=c-shared -o build/libgpuframe.so ./python/libgpuframe
//
// # Calls
//
// Everything that Go holds is named by a handle, a number with a generation: one
// that was released, or made up, is refused and never followed. Every function
// returns NULL, or the error as JSON that the caller gives to gpuframe_free. So
// errors belong to their call, and any thread may call anything at any time.
// Structured results are JSON too and are freed likewise.
//
// # The interpreter's lock
//
// Python calls these functions by ctypes.CDLL, which gives the lock back for the
// length of the call. That is necessary: a call may release memory that another
// Python object owns, on another thread, and that object's deleter takes the
// lock; and it may wait for work that ends with such a release.
//
// The functions of native.c are called with the lock held. They give it back
// before they enter Go, except for the export of a column that no wait can be in.
// They find Python's own functions, all of the stable ABI, in the process that
// has loaded them, so that the library belongs to no version of Python.
package main

func main() {}
