// Numbers as unsigned integers of the same order, for minima, radix digits and
// comparisons of a single type.
#pragma once

#include "gpuframe.cuh"

// Floats: all bits of a negative one are inverted, of another one only the sign. The
// order is −NaN < −∞ < … < −0 < +0 < … < +∞ < NaN. The caller replaces NaNs before if
// it needs another order for them.
DEVICE u64 ordered_f64(u64 bits) { return bits ^ ((u64)((i64)bits >> 63) | 1ull << 63); }
DEVICE u32 ordered_f32(u32 bits) { return bits ^ ((u32)((i32)bits >> 31) | 1u << 31); }
DEVICE u32 ordered_f16(u32 bits) { return bits ^ ((bits >> 15 & 1) * 0x7fff | 0x8000); }

// And back.
DEVICE u64 unordered_f64(u64 key) { return key ^ ((u64)((i64)~key >> 63) | 1ull << 63); }
DEVICE u32 unordered_f32(u32 key) { return key ^ ((u32)((i32)~key >> 31) | 1u << 31); }
DEVICE u32 unordered_f16(u32 key) { return key ^ ((~key >> 15 & 1) * 0x7fff | 0x8000); }

DEVICE bool is_nan_f64(u64 bits) { return (bits & ~(1ull << 63)) > 0x7ff0000000000000; }
DEVICE bool is_nan_f32(u32 bits) { return (bits & 0x7fffffff) > 0x7f800000; }
DEVICE bool is_nan_f16(u32 bits) { return (bits & 0x7fff) > 0x7c00; }

static constexpr u64 nan_f64 = 0x7ff8000000000000;
static constexpr u32 nan_f32 = 0x7fc00000, nan_f16 = 0x7e00;
