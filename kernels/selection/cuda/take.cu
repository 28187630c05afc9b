// Takes rows: values, bits, elements of fixed-size lists, and runs.
#include "expand_fixed.cuh"
#include "indices.cuh"
#include "take.cuh"
#include "take_bits.cuh"
#include "take_runs.cuh"
#include "take_together.cuh"
#include "take_wide.cuh"
#include "take_wide_bits.cuh"

TAKE_ANY(1, u8, 8)
TAKE_ANY(2, u16, 8)
TAKE(4, u32, 8)
TAKE(8, u64, 8)
TAKE_ANY(16, Pair, 4)

TAKE_WIDE(1, u8)
TAKE_WIDE(4, u32)
TAKE_WIDE(8, u64)
TAKE_WIDE(16, Pair)

TAKE_RUNS(2, i16)
TAKE_RUNS(4, i32)
TAKE_RUNS(8, i64)
