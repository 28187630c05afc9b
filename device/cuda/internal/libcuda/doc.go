// Package libcuda calls NVIDIA's driver library, which it opens at run time: a
// program that holds this package builds with no CUDA toolkit and starts with
// no driver. It is the only package of gpuframe's CUDA backend with C in it.
//
// [Load] opens libcuda.so.1 and resolves every function by its exact exported
// name (symbols.h lists them) into one table. Each method here is one operation
// of the driver: one crossing into C, where the shim sets the device's context,
// calls, and leaves the thread's own context as it was (table.h says why).
//
// Nothing is checked or interpreted here; package cuda does both. A function
// that the driver is too old to have returns [TooOld].
//
// Built without cgo, or for anything but 64-bit Linux, the package is empty.
package libcuda
