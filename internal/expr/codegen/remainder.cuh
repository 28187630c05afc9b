#pragma once
#include "math.cuh"

// Scaled is a magnitude as m 2^(e−1075).
struct Scaled {
    u64 m;
    i32 e;
};

DEVICE Scaled scaled(u64 bits) {
    const i32 e = (i32)(bits >> 52);
    const u64 m = bits & 0xfffffffffffffull;
    return e ? Scaled{m | 1ull << 52, e} : Scaled{m, 1};
}

// gpuframe_fmod is C's fmod, which is exact: a long division of the magnitudes as
// integers, eleven binary digits at a time.
FUNCTION f64 gpuframe_fmod(f64 x, f64 y) {
    const f64 a = magnitude(x), b = magnitude(y);
    if (!(a < infinity) || b != b || b == 0)
        return not_a_number;
    if (a < b)
        return x;
    const Scaled from = scaled(bits_of(a)), by = scaled(bits_of(b));
    u64 rest = from.m % by.m;
#pragma nounroll
    for (i32 left = from.e - by.e; left > 0 && rest;) {
        const i32 digits = left < 11 ? left : 11;
        rest = (rest << digits) % by.m;
        left -= digits;
    }
    if (rest) {
        // Normalize: move the leading bit back to its position, unless the rest is
        // zero.
        const i32 shift = __builtin_clzll(rest) - 11;
        if (shift < by.e)
            rest = (rest << shift) + ((u64)(by.e - shift - 1) << 52);
        else
            rest <<= by.e - 1;
    }
    return float_of(rest | (bits_of(x) & 1ull << 63));
}
