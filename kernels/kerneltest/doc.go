// Package kerneltest tests kernels without a GPU: it runs PTX on the processor.
//
//	func TestScale(t *testing.T) {
//		dev := kerneltest.Open(t)                           // an emulated GPU
//		mgr := kerneltest.Manager(t, dev, memory.Options{}) // a test that leaks memory fails
//		in, err := memory.NewSlice[float64](mgr, 1000, memory.AllocateOptions{})
//		… // kernels.Load, Launch and Download, as on a GPU
//	}
//
// [Open] returns a device that behaves like a GPU. Its memory and its streams are those
// of the host. Its kernels are PTX: the output of clang for CUDA C++, and code that
// a program writes at run time. Every instruction computes the result that the PTX
// manual specifies. Loading code with an unknown instruction fails. Approximate
// instructions (ex2.approx) are computed exactly and rounded. Code that is compiled for one
// GPU (a cubin) is refused.
//
// To run a test on a GPU too, call it with the device that device.Open("cuda:0") returns; on a
// machine without a GPU the error wraps device.ErrNotAvailable.
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
// A fault ends the launch, fails the test and is returned as a [*Fault], within the error of
// kernels.Function.Launch. It names the kernel, the line of the PTX, the block and the thread,
// and wraps its kind:
//
//   - [ErrAddress]: an access outside of the device's allocations or to freed memory
//   - [ErrAlignment]: a misaligned access
//   - [ErrRace]: a race in shared memory; bar.warp.sync is enough to order the lanes of a warp
//   - [ErrSynchronization]: a deadlock, or threads that reach a barrier in different ways
//   - [ErrTrap]: a trap
//   - [ErrEndless]: a kernel that does not end
//
// With [Options].Tolerant the test does not fail, so that it can expect the fault. Uninitialised
// registers, shared and local memory and fresh allocations are filled with the byte 0xa5, so
// that results that depend on them are wrong in every run. An integer division by zero returns
// the same pattern. Races in global memory are not detected.
//
// A launch runs before the call returns, after the earlier work of its stream. The
// emulator therefore does not detect a missing order between two streams. It can
// capture one stream at a time, without events.
//
// The emulator checks the bounds of the allocations that the driver received. [Manager]
// therefore makes each block an allocation; memory's caching resource, which is the default,
// divides large segments.
//
// If the variable GPUFRAME_PTXAS names NVIDIA's assembler, each text that a test loads is also
// assembled, and refused if ptxas refuses it.
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
package kerneltest
