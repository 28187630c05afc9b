// Package kernels loads device code and launches it on gpuframe's memory.
//
//	module, err := kernels.Load(dev, ptx)
//	defer module.Close()
//	add, err := module.Function("add_f32")
//	err = add.Launch(stream, kernels.GridFor(n, 256), device.Dim3{X: 256}, 0,
//		out, a, b, uint64(n)) // memory.Slice[float32] each, and a number
//
// PTX is text. The GPU's driver compiles it for its device when it is loaded, so a
// program needs no compiler at run time. Package elementwise shows the whole way from a
// CUDA source to a Go function; build.sh makes the PTX.
//
// [LoadCached] loads code that several places use only once. With a directory for
// compiled code (LoadOptions.CacheDirectory) it is compiled once for all runs of a
// program. [LoadCollected] loads code that was made at run time and drops it after its
// last use. [Function.Grid] chooses a grid for kernels that loop. [Struct] and [Words]
// make structs for kernels that take them by value.
//
// # Memory and order
//
// A launch takes memory as any memory.Region: a block, a slice, a column's values. It
// holds the blocks while it enqueues and records their use, so memory that is released
// right after Launch is not reused before the kernel is done. The kernel runs after other
// streams' pending work on its memory. A slice of memory.Slice.Unordered is exempt from
// that order.
//
// gpuframe cannot record the use of an address without a block. Permissive modules, the
// default, pass such arguments on and count them; strict modules refuse them. See
// [LoadOptions].
//
// # Graphs
//
// [Capture] makes one [Graph] from many launches, fills and copies, of operators as well
// as of custom kernels. A graph launch costs about as much as one kernel launch. The
// graph holds the memory that its work uses.
//
// # Checks
//
// The driver trusts its arguments: with one too few or too narrow it reads the bytes
// after them. Launch checks the number and width of the arguments against the compiled
// kernel, and the block's size and shared memory against the kernel's limits, before it
// calls the driver. It cannot check the accesses of a kernel through a pointer.
package kernels
