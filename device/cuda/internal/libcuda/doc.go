// Package libcuda calls NVIDIA's driver library, which it loads at run time: a program
// with this package builds without a CUDA toolkit and starts without a driver. It is
// the only package of gpuframe's CUDA backend that contains C.
//
// [Load] opens libcuda.so.1 and resolves every function by its exact exported name
// (symbols.h lists them) into one table. Each method here is one operation of the
// driver: one crossing into C, where the shim sets the device's context, calls, and
// restores the thread's context (table.h explains why).
//
// This package checks and interprets nothing; package cuda does both. A function that
// the driver is too old to have returns [TooOld].
//
// Built without cgo, or for anything except 64-bit Linux, the package is empty.
package libcuda
