// Package emulator runs PTX on the processor, for tests on machines without a GPU.
//
// [Open] returns a device that behaves like a GPU. Its memory and its streams are those
// of the host. Its kernels are PTX: the output of clang for CUDA C++, and the code that
// this module generates at run time. Every instruction computes the result that the PTX
// manual specifies. Loading code with an unknown instruction fails. Approximate
// instructions (ex2.approx) are computed exactly and rounded.
//
// # Threads
//
// The 32 lanes of a warp execute together while they are at the same instruction. After
// a divergence the lanes at the lowest address run first; occasionally other lanes do.
// Instructions with .sync wait for the lanes of their mask. A few blocks are resident
// at a time. Their warps alternate after a few hundred instructions, and blocks start
// in random order; a seed determines both. Kernels that depend on timing therefore fail
// here more often than on a GPU. The emulator does not model weakly ordered memory: it
// does not detect a missing fence.
//
// # Errors
//
// These events end the launch with a [*Fault] and fail the test: an access that is
// misaligned or outside the device's allocations, a trap, a deadlock, a kernel that
// does not end, and a race in shared memory (one thread writes what another uses, with
// no barrier between; bar.warp.sync is enough within a warp). Uninitialised registers,
// shared and local memory and fresh allocations are filled with the byte 0xa5. An
// integer division by zero returns the same pattern.
//
// A launch runs before the call returns, after the earlier work of its stream. The
// emulator therefore does not detect a missing order between two streams. It can
// capture one stream at a time, without events.
//
// The emulator checks the bounds of the allocations that the driver received.
// memory.CachingResource allocates large segments, so use memory.DriverResource, as
// devicetest.Manager does.
//
// # Speed
//
// The emulator runs some hundred million thread instructions per second. A launch runs
// on one goroutine, and nothing else uses its registers and shared memory. The functions
// that execute instructions are therefore marked go:norace: with the race detector in
// them, tests of kernels took ten times as long. A closure cannot be marked, so an
// instruction that is frequent is a type with a method execute.
//
// PTX has a register for each value, and starting a block of a large kernel wrote 25 MB.
// Registers therefore share rows by their lives, and only those that a path may read before
// it writes them are filled. Short tests of kernels/group take 46 s of processor time
// instead of 83.
//
// # Sources
//
// "Parallel Thread Execution ISA", version 8.5, by NVIDIA, defines each instruction.
package emulator
