// Shared code of the float functions. Nothing here calls a library: everything uses
// fused multiply-adds, which round once.
#pragma once
#include "gpuframe.cuh"

// FUNCTION declares a function that package codegen extracts from the PTX.
#define FUNCTION extern "C" __device__ __attribute__((noinline))

DEVICE f64 fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
DEVICE f64 nearest(f64 x) { return __builtin_rint(x); }
DEVICE u64 bits_of(f64 x) { return __builtin_bit_cast(u64, x); }
DEVICE f64 float_of(u64 bits) { return __builtin_bit_cast(f64, bits); }
DEVICE f64 magnitude(f64 x) { return float_of(bits_of(x) & ~(1ull << 63)); }
DEVICE bool negative(f64 x) { return bits_of(x) >> 63; }
DEVICE u64 multiply_high(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }

static constexpr f64 infinity = __builtin_inf();
static constexpr f64 not_a_number = __builtin_nan("");

// ln 2 in parts: the first has 42 bits, so that its product with an exponent is exact.
static constexpr f64 ln2_high = 0x1.62e42fefa3800p-1;
static constexpr f64 ln2_low = 0x1.ef35793c76730p-45;
static constexpr f64 ln2_lower = 0x1.f97b57a079a19p-103;
static constexpr f64 log2_e = 0x1.71547652b82fep+0;

// power_of_two returns 2^k for a normal result.
DEVICE f64 power_of_two(i32 k) { return float_of((u64)(k + 1023) << 52); }

// exponential returns e^(x + low), where low is tiny compared with x: x = k ln 2 + r,
// and e^r by its series up to r^13, with an error of less than 2^-57 for |r| <= ln 2 /
// 2.
DEVICE f64 exponential(f64 x, f64 low) {
    if (!(x < 710))
        return x != x ? x : infinity;
    if (x < -746)
        return 0;
    const f64 k = nearest(x * log2_e);
    f64 r = fma(-k, ln2_high, x);
    r = fma(-k, ln2_low, r) + low;
    f64 p = 1.0 / 6227020800.0;
    p = fma(p, r, 1.0 / 479001600.0);
    p = fma(p, r, 1.0 / 39916800.0);
    p = fma(p, r, 1.0 / 3628800.0);
    p = fma(p, r, 1.0 / 362880.0);
    p = fma(p, r, 1.0 / 40320.0);
    p = fma(p, r, 1.0 / 5040.0);
    p = fma(p, r, 1.0 / 720.0);
    p = fma(p, r, 1.0 / 120.0);
    p = fma(p, r, 1.0 / 24.0);
    p = fma(p, r, 1.0 / 6.0);
    p = fma(p, r, 0.5);
    p = 1 + fma(r * r, p, r);
    // In two steps, because 2^k may be too large or subnormal.
    const i32 half = (i32)k >> 1;
    return p * power_of_two(half) * power_of_two((i32)k - half);
}

// Parts is a positive number as m 2^k with m between the roots of 1/2 and 2.
struct Parts {
    f64 m;
    i32 k;
};

DEVICE Parts parts_of(f64 x) {
    i32 k = 0;
    if (x < 0x1p-1022)
        x *= 0x1p54, k = -54;
    const u64 bits = bits_of(x);
    // Subtracting the square root of 1/2 carries into the exponent if m is above it.
    const u64 above = bits - 0x3fe6a09e667f3bcdull;
    k += (i32)((i64)above >> 52);
    return {float_of(bits - (above & 0xfff0000000000000ull)), k};
}
