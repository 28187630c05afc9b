// Forms of a pass: rows of a thread, and how lanes with equal digits are found.
#include "../../cuda/kernels.cuh"

RADIX_PASS(32_items_16, u32, nothing, 16, 2)
RADIX_PASS(32_items_20, u32, nothing, 20, 2)
RADIX_PASS(32_items_28, u32, nothing, 28, 2)
RADIX_PASS(64_items_12, u64, nothing, 12, 0)
RADIX_PASS(64_items_16, u64, nothing, 16, 0)

RADIX_PASS(32_masked_1, u32, nothing, 24, 1)
RADIX_PASS(32_masked_0, u32, nothing, 24, 0)
RADIX_PASS(32_masked_4, u32, nothing, 24, 4)
RADIX_PASS(64_masked_1, u64, nothing, 14, 1)
RADIX_PASS(64_masked_2, u64, nothing, 14, 2)
RADIX_PASS(64_masked_4, u64, nothing, 14, 4)
RADIX_PASS(32_match, u32, nothing, 24, by_match)
