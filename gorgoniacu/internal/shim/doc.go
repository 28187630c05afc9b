// Package shim calls the driver for operations that gorgonia.org/cu cannot do. It is
// the part of gorgoniacu that contains C. It has four kinds of calls.
//
//   - Operations that the binding lacks: pools, page-locked memory, pointer
//     attributes, virtual and shared memory, the compiler's log and its output,
//     setting a function's attributes, graphs that any thread may capture.
//   - Launches. The binding reads eight bytes for each argument of any width, and
//     allocates.
//   - Operations with a stream. The binding's Stream holds a C pointer, which the
//     garbage collector sees. CUDA's special streams 1 and 2 are not pointers, and
//     Go ends the process when it finds one of them on a stack.
//   - Copies to and from host memory. cgo searches the binding's arguments for Go
//     pointers, and panics if the memory lies within a Go object with pointers,
//     although the driver reads none of them.
//
// Each is one crossing into C, which sets the device's context, calls, and restores the
// thread's context. [Device.Enter] and [Device.Leave] do the same around calls of the
// binding.
//
// This package checks and interprets nothing. The functions are those of cuda.h, from
// CUDA 11.4 to 12. They are bound at their first call, so a driver that lacks one works
// while that one is not called. Package gorgoniacu checks first whether a device
// supports an operation.
//
// Built without cgo, or for anything except 64-bit Linux, the package is empty.
package shim
