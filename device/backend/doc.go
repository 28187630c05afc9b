// Package backend is the contract between gpuframe and the binding of a device: CUDA,
// ordinary host memory, or another binding of the same driver.
//
// A [Driver] opens devices; a [Device] is the set of operations that gpuframe needs.
// Every method is one operation of the underlying driver and contains no policy: a
// backend does not cache, pool, retry or count. The packages above it do.
//
// The split follows database/sql and database/sql/driver: programs use package device,
// and only the author of a backend needs this package.
//
// # Handles
//
// [Pointer], [Stream], [Event], [Pool], [Physical], [Module], [Function], [Graph] and
// [ExecutableGraph] are plain words that are valid only for the Device that issued
// them. For CUDA they are the driver's CUdeviceptr, CUstream and so on, so a stream of
// PyTorch or a function of another binding can be used here unchanged. Stream(0) is the
// device's default stream.
//
// # Rules for a backend
//
//   - Every method may be called from any goroutine on any operating system
//     thread; a backend that needs a current context sets it within the call.
//   - A failed method changes nothing.
//   - Every error wraps the sentinel of this package that fits, so that callers
//     decide with errors.Is and never by a backend's error codes.
//   - An operation the device does not have returns [ErrNotSupported].
//   - Asynchronous copies read and write host memory after they return. Their
//     host memory must therefore come from HostAlloc, or be registered, or be
//     memory that the garbage collector does not move or free.
package backend
