// Package kernels loads device code and launches it on gpuframe's memory.
//
//	module, err := kernels.Load(dev, ptx)
//	defer module.Close()
//	add, err := module.Function("add_f32")
//	err = add.Launch(stream, kernels.GridFor(n, 256), device.Dim3{X: 256}, 0,
//		out, a, b, uint64(n)) // memory.Slice[float32] each, and a number
//
// PTX is text that the GPU's driver compiles for the device it finds, when it is
// loaded: no compiler has to be installed where a program runs. Package
// elementwise shows the whole way from a CUDA source to a Go function; build.sh
// makes the PTX.
//
// Code that is made at run time is loaded by [LoadCollected], which drops it when it is
// not used any more.
// Code that several places load is loaded once by [LoadCached], and compiled once for
// all runs of a program where there is a directory for that
// (LoadOptions.CacheDirectory). [Function.Grid] chooses a grid for kernels that loop.
// Kernels that take a struct by value get it from [Struct] or [Words].
//
// # Memory and order
//
// A launch takes memory as it is: a block, a slice, a column's values, whatever
// is a memory.Region.
// It holds the blocks while it enqueues and records their use, so that memory
// released right after Launch is not given to anyone before the kernel is done.
// The kernel runs after the work of other streams that is pending on its memory. A
// slice of memory.Slice.Unordered is not waited for.
//
// An address that does not come from a block is in nobody's books. Permissive
// modules, the default, pass such arguments on and count them; strict ones refuse
// them. See [LoadOptions].
//
// # Graphs
//
// [Capture] makes one [Graph] of many launches, fills and copies, of operators as well
// as of kernels of one's own. Launching that costs what one launch costs. The memory
// that the work uses is held as long as the graph.
//
// # Checks
//
// The driver trusts what it is given: an argument too few or too narrow makes it
// read what lies next in memory. Launch checks number and width of the arguments
// against the compiled kernel, and the block's size and its shared memory against
// the kernel's limits, before the driver is called. What a kernel does with a
// pointer, nothing checks.
package kernels
