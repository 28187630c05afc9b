// Package shim calls what gorgonia.org/cu cannot: it is the part of gorgoniacu
// that has C in it. Four kinds of calls are here.
//
//   - What the binding lacks: pools, page-locked memory, pointer attributes,
//     virtual and shared memory, the compiler's log and its output, setting a
//     function's attributes, graphs that any thread may capture.
//   - Launches. The binding reads eight bytes for each argument, whatever its
//     width, and allocates.
//   - What takes a stream. The binding's Stream holds a C pointer, which the
//     garbage collector sees. CUDA's special streams 1 and 2 are no pointers, and
//     Go ends the process when it meets one of them on a stack.
//   - What copies to and from host memory. cgo searches what the binding is given
//     for Go pointers, and panics where the memory lies within a Go object that
//     holds some, though the driver reads none of them.
//
// Each is one crossing into C, which sets the device's context, calls, and puts
// the thread's own context back. [Device.Enter] and [Device.Leave] do the same
// around calls of the binding.
//
// Nothing is checked or interpreted here. The functions are those of cuda.h, from
// CUDA 11.4 to 12; they are bound when they are first called, so a driver that
// lacks one serves as long as that one is not called. Which ones a device has,
// package gorgoniacu asks first.
//
// Built without cgo, or for anything but 64-bit Linux, the package is empty.
package shim
