// Package backend is the contract between gpuframe and whatever drives a
// device: CUDA, ordinary host memory, or another binding of the same driver.
//
// A [Driver] opens devices; a [Device] is the set of operations that gpuframe
// asks of one. Every method is one operation of the underlying driver and
// carries no policy: nothing is cached, pooled, retried or counted here. The
// packages above decide; a backend obeys.
//
// The split follows database/sql and database/sql/driver: programs use package
// device, and only the author of a backend reads this one.
//
// # Handles
//
// [Pointer], [Stream], [Event], [Pool], [Physical], [Module], [Function], [Graph]
// and [ExecutableGraph] are plain words that mean something only to the Device that issued them. For CUDA
// they are the driver's own CUdeviceptr, CUstream and so on, which is what lets
// a stream of PyTorch's or a function of another binding be used here
// unchanged. Stream(0) is the device's default stream.
//
// # Rules for a backend
//
//   - Every method may be called from any goroutine on any operating system
//     thread; a backend that needs a current context sets it within the call.
//   - A failed method changes nothing.
//   - Every error wraps one of the sentinels of this package where one fits, so
//     that callers decide with errors.Is and never by a backend's own codes.
//   - An operation the device does not have returns [ErrNotSupported].
//   - Asynchronous copies read and write host memory after they return. Their
//     host memory must therefore come from HostAlloc, or be registered, or be
//     memory that the garbage collector does not move or free.
package backend
