// The kernels of a radix sort, for keys of 32 and 64 bits.
#include "kernels.cuh"

RADIX(32, u32)
RADIX(64, u64)
RADIX_PLAN

// The rows of a thread, Go's passItems: more spill registers. Then those of each four that find their
// peers by masks.
RADIX_OF(32_alone, u32, nothing, 24, 2)
RADIX_OF(32_rows, u32, separate, 16, 0)
RADIX_OF(32_wide, u32, wide, 12, 0)
RADIX_OF(64_alone, u64, nothing, 14, 0)
RADIX_OF(64_rows, u64, separate, 12, 0)
RADIX_OF(64_wide, u64, wide, 12, 0)
RADIX_OF(64_packed, u64, packed, 14, 0)
RADIX_PASS(64_paired, u64, paired, 14, 0)
RADIX_PASS(64_narrowed, u32, narrowed, 24, 2)

RADIX_RUNS(64_alone, u64, nothing)
RADIX_RUNS(64_rows, u64, separate)
RADIX_RUNS(64_wide, u64, wide)

KERNEL LAUNCH_BOUNDS(warp_threads) radix_plan_again(CALL_PARAMETERS) {
    const Call call = CALL_ARGUMENTS;
    plan_second(call);
}
