// Package bitmap converts between Arrow's bits and the bytes of 0 or 1 that
// tensors are made of, on every kind of device.
//
// Bits are numbered from the lowest of the first byte on. On a GPU both functions
// enqueue one kernel, bitmap.cu, whose PTX is part of the program and is compiled
// for a device when it first needs it. On the host the processor does the work
// after what is on the stream, before the function returns.
package bitmap
