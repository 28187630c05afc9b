// Package cuda is gpuframe's backend for NVIDIA GPUs. It calls the driver,
// libcuda.so.1, which the first call loads: a program with this package builds without
// a CUDA toolkit and starts without a driver.
//
// Programs open devices through package device; this package is for the errors. Every
// error of a device method is an [*Error], which holds the operation and the driver's
// [Code], or wraps one. It matches both the sentinels of package backend and the Code:
//
//	errors.Is(err, backend.ErrOutOfMemory)
//	errors.Is(err, cuda.CodeOutOfMemory)
//
// A device uses the GPU's primary context, which the CUDA runtime uses too. Memory,
// streams and events are therefore shared with PyTorch, CuPy and JAX in the same
// process. A device may be called from any thread; each call restores the thread's
// current context.
//
// The package needs cgo, 64-bit Linux, and driver 450 (CUDA 11.0). Memory pools need
// CUDA 11.2, pools with a maximum 12.2, FunctionParameters 12.4; on older drivers these
// return backend.ErrNotSupported. So do mapped memory, managed memory and its prefetch
// on a device without the attribute: a virtual GPU often cannot map memory, and some
// systems cannot prefetch. On other platforms [Driver] returns backend.ErrNotAvailable
// with the reason.
//
// The environment variable GPUFRAME_LIBCUDA names another driver library.
package cuda
