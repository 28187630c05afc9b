// The part of CUDA C++ that gpuframe's kernels need, so that clang alone can compile
// them: NVIDIA's headers and libdevice are not required. Everything here is a name for
// one attribute or one instruction.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

// KERNEL declares a kernel. Its name in the PTX is the name in the source.
#define KERNEL extern "C" __global__ void

// DEVICE declares a function that is inlined into the kernels that call it.
#define DEVICE static inline __device__ __attribute__((always_inline))

// LAUNCH_BOUNDS(threads) is the maximum number of threads of a block, which lets the
// compiler use more registers for each. A launch above it is refused.
#define LAUNCH_BOUNDS(threads) __attribute__((launch_bounds(threads)))

// RESIDENT_BOUNDS(threads, blocks) also limits the registers, so that a multiprocessor
// holds at least a number of such blocks.
#define RESIDENT_BOUNDS(threads, blocks) __attribute__((launch_bounds(threads, blocks)))

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

static_assert(sizeof(i64) == 8 && sizeof(void *) == 8, "the kernels are written for 64-bit addresses");

// Vector<T, N> is N values that move in one instruction. It is aligned to its size,
// which is at most 16 bytes.
template <typename T, int N> struct alignas(N * sizeof(T)) Vector {
    static_assert(N * sizeof(T) <= 16, "no instruction moves more than 16 bytes a thread");
    T lane[N];
};

// aligned reports whether an address is a multiple of a power of two.
DEVICE bool aligned(const void *address, u64 bytes) { return ((u64)address & (bytes - 1)) == 0; }

// The position of a thread. Only the first dimension: gpuframe's kernels are flat.
DEVICE u32 thread_in_block() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 threads_per_block() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u32 block_in_grid() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 blocks_per_grid() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE u32 lane_in_warp() { return __nvvm_read_ptx_sreg_laneid(); }

// thread_in_grid and threads_per_grid are the start and the stride of a loop over all
// elements that works for every grid:
//
//     for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
DEVICE u64 thread_in_grid() { return (u64)block_in_grid() * threads_per_block() + thread_in_block(); }
DEVICE u64 threads_per_grid() { return (u64)blocks_per_grid() * threads_per_block(); }

// Operations of all threads of a warp. All 32 take part.
static constexpr u32 whole_warp = 0xffffffff;
static constexpr u32 warp_threads = 32;

// ballot returns a word with the predicate of lane i in bit i.
DEVICE u32 ballot(bool predicate) { return __nvvm_vote_ballot_sync(whole_warp, predicate); }

// shuffle_down returns the value of the lane with the number higher by delta.
DEVICE u32 shuffle_down(u32 value, u32 delta) { return __nvvm_shfl_sync_down_i32(whole_warp, value, delta, warp_threads - 1); }

// synchronize_block waits for all threads of the block, and makes their writes visible
// to each other.
DEVICE void synchronize_block() { __syncthreads(); }
