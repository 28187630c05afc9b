// Takes strings and lists.
#include "copy_ranges.cuh"
#include "expand_ranges.cuh"
#include "take_ranges.cuh"

TAKE_RANGES(4, i32)
TAKE_RANGES(8, i64)

COPY_RANGES(4, i32)
COPY_RANGES(8, i64)

EXPAND(4, i32)
EXPAND(8, i64)

KERNEL LAUNCH_BOUNDS(block_threads) add_sums(i64 *sums, u64 count) { add_sums<0>(sums, count); }
