#include "cumulative.cuh"

// Exact folds: integers, and everything that is only compared.
CUMULATIVE(exact_8, true, false, 2, u8, u32)
CUMULATIVE(exact_16, true, false, 4, u16, u32)
CUMULATIVE(exact_32, true, false, 8, u32, u32)
CUMULATIVE(exact_64, true, false, 8, u64, u64)
CUMULATIVE(exact_128, true, false, 8, Wide, u128)

// Exact folds of 64 bits that absorb nothing.
CUMULATIVE(exact_kept_64, true, true, 8, u64, u64)

// Folds that round: sums and products of floats, in 64 bits.
CUMULATIVE(rounded_16, false, false, 4, u16, u64)
CUMULATIVE(rounded_32, false, false, 8, u32, u64)
CUMULATIVE(rounded_64, false, true, 8, u64, u64)
