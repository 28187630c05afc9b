// Package cuda is gpuframe's backend for NVIDIA GPUs. It speaks to the driver,
// libcuda.so.1, which it opens when it is first asked for something: a program
// with this package builds with no CUDA toolkit and starts with no driver.
//
// Programs open devices through package device; this package is for the errors.
// Every error of a device method is an [*Error], which holds the operation and
// the driver's [Code], or wraps one. It matches both the sentinels of package
// backend and the Code:
//
//	errors.Is(err, backend.ErrOutOfMemory)
//	errors.Is(err, cuda.CodeOutOfMemory)
//
// A device uses the GPU's primary context, the one that the CUDA runtime uses,
// so that memory, streams and events are shared with PyTorch, CuPy and JAX in
// the same process. It may be called from any thread, which it leaves with the
// current context that it found.
//
// The package needs cgo, 64-bit Linux, and driver 450 (CUDA 11.0). Memory pools
// need CUDA 11.2, pools with a maximum 12.2, FunctionParameters 12.4; on older
// drivers these return backend.ErrNotSupported. So do mapped memory, managed
// memory and its prefetch on a device whose attribute says that it has none: a
// virtual GPU often maps no memory, and some systems do not prefetch. Elsewhere [Driver] returns
// backend.ErrNotAvailable and says why.
//
// The environment variable GPUFRAME_LIBCUDA names another driver library.
package cuda
