// Package nccl calls NVIDIA's library for communication between GPUs, libnccl.so.2, which it
// opens at run time: a program builds without NCCL and starts without it.
//
//	id, err := nccl.NewID()                 // on one rank, which sends it to the others
//	c, err := nccl.Init(ordinal, id, rank, size)
//	err = c.Wait(ctx)                       // until all ranks have joined
//	err = c.Exchange(stream, transfers)     // sends and receives, as one group
//	err = c.Wait(ctx)                       // until they are on the stream
//	err = c.Close(ctx)                      // or c.Abort() after a failure
//
// Each function is one crossing into C, because NCCL's groups belong to a thread and a goroutine
// may change threads between two calls. Communicators do not block: a call returns when
// NCCL has begun the work, and [Comm.State] reports its progress and failures. [Comm.Abort] ends
// the work on all streams, also if another rank never answers.
//
// NVLink multicast stays off: [Load] sets NCCL_NVLS_ENABLE to 0 unless the variable is set. It also
// sets NCCL_P2P_DIRECT_DISABLE to 1 unless it is set: GPUs of one process then do not access each
// other's memory, which may be closed to them.
//
// The variable GPUFRAME_LIBNCCL has another path of the library. The tests pass it the stand-in
// of testdata, which moves bytes of host memory between processes, and the library itself where
// there are GPUs.
//
// In a build without cgo, and on systems other than 64-bit Linux, every function returns
// [ErrNotAvailable].
package nccl
