// Package emulator runs PTX on the processor, for tests on machines without a GPU.
//
// [Open] gives a device that passes for a GPU. Its memory and its streams are
// the host's, and its kernels are PTX: what clang made of CUDA C++, and what
// this module writes at run time. Every instruction computes what the PTX manual
// says; one that the emulator does not know is an error when the code is loaded.
// Approximate instructions (ex2.approx) are computed exactly and rounded.
//
// # Threads
//
// The 32 lanes of a warp execute together as long as they are at the same place;
// of lanes at several places those at the lowest go first, and now and then
// others. Instructions with .sync wait for the lanes that their mask names. Some
// blocks are resident at a time; warps of them take turns of a few hundred
// instructions, and blocks start in any order, all by a seed. So kernels that
// depend on luck fail here more often than on a GPU. The emulator does not show
// what weakly ordered memory does: a missing fence goes unnoticed.
//
// # Errors
//
// An access outside the device's allocations, or not aligned, ends the launch
// with a [*Fault] and fails the test; so do traps, deadlocks, kernels that do not
// end, and threads that use the same shared memory, one of them writing, with no
// barrier in between (bar.warp.sync is enough within a warp). What is
// not initialised (registers, shared and local memory, fresh allocations) is
// filled with the byte 0xa5. Division of integers by zero gives such a pattern too.
//
// Launches run before they return, after what is on their stream, so that work of
// two streams that ought to be ordered and is not goes unnoticed too. Streams can
// be captured, one at a time and without events.
//
// Bounds are those of what the driver was asked for. A memory.CachingResource asks
// for large segments, so use memory.DriverResource, as devicetest.Manager does.
//
// # Speed
//
// Some hundred million instructions of single threads in a second.
//
// # Sources
//
// "Parallel Thread Execution ISA", version 8.5, of NVIDIA, for what each
// instruction does.
package emulator
