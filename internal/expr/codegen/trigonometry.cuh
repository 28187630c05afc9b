#pragma once
#include "math.cuh"

// two_over_pi holds the fractional bits of 2/π after a word of zeros.
static __constant__ u64 two_over_pi[21] = {
    0,
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};

static constexpr f64 half_pi = 0x1.921fb54442d18p+0;
static constexpr f64 half_pi_middle = 0x1.1a62633145c07p-54;
static constexpr f64 half_pi_low = -0x1.f1976b7ed8fbcp-110;

// Angle is rest + quadrant π/2, with rest within ±π/4.
struct Angle {
    f64 rest;
    u32 quadrant;
};

// reduce_large reduces |x| >= 2^31 with the relevant bits of 2/π (Payne and Hanek
// 1983). With x = m 2^(e−63), bits are skipped if their products with m are multiples
// of 4, and 192 of the others leave an error of 2^-126.
DEVICE Angle reduce_large(f64 x) {
    const u64 bits = bits_of(x) & ~(1ull << 63);
    const u64 m = (bits << 11) | (1ull << 63);
    const u32 skip = (u32)(bits >> 52) - 1023 - 1; // e − 65, and 64 for the zeros
    const u32 word = skip >> 6, shift = skip & 63;
    u64 w[3];
#pragma unroll
    for (u32 i = 0; i < 3; i++)
        w[i] = shift ? two_over_pi[word + i] << shift | two_over_pi[word + i + 1] >> (64 - shift) : two_over_pi[word + i];
    const u64 p0 = m * w[2];
    const u64 low = m * w[1], middle = multiply_high(m, w[2]) + low;
    const u64 high = multiply_high(m, w[1]) + (middle < low) + m * w[0];
    u32 quadrant = (u32)(high >> 62);
    u64 f = high << 2 | middle >> 62, g = middle << 2 | p0 >> 62;
    // In the upper half of a quadrant the rest is relative to the next quadrant, and
    // negative.
    const bool past = f >> 63;
    if (past) {
        quadrant++;
        f = ~f, g = ~g; // up to 2^-128
    }
    const u32 zeros = f ? (u32)__builtin_clzll(f) : 64 + (u32)__builtin_clzll(g | 1);
    if (zeros >= 64)
        f = g << (zeros - 64);
    else if (zeros)
        f = f << zeros | g >> (64 - zeros);
    // The top bits are converted separately, so that they are exact.
    const f64 top = (f64)(f & ~0x7ffull), below = (f64)(f & 0x7ff);
    f64 rest = fma(top, half_pi, fma(top, half_pi_middle, below * half_pi)) * float_of((u64)(1023 - 64 - zeros) << 52);
    if (past)
        rest = -rest;
    return {negative(x) ? -rest : rest, negative(x) ? 0 - quadrant : quadrant};
}

// reduce subtracts multiples of π/2 in three parts (Cody and Waite 1980): up to 2^31
// the first difference is exact.
DEVICE Angle reduce(f64 x) {
    if (magnitude(x) >= 0x1p31)
        return reduce_large(x);
    const f64 k = nearest(x * 0x1.45f306dc9c883p-1);
    f64 rest = fma(-k, half_pi, x);
    rest = fma(-k, half_pi_middle, rest);
    return {fma(-k, half_pi_low, rest), (u32)(i64)k};
}

// sine_of returns the sine of rest + quadrant π/2. The coefficients are those of
// FreeBSD's k_sin.c and k_cos.c (Sun Microsystems 1993).
DEVICE f64 sine_of(f64 rest, u32 quadrant) {
    const f64 z = rest * rest;
    f64 p;
    if (quadrant & 1) {
        p = -1.13596475577881948265e-11;
        p = fma(p, z, 2.08757232129817482790e-09);
        p = fma(p, z, -2.75573143513906633035e-07);
        p = fma(p, z, 2.48015872894767294178e-05);
        p = fma(p, z, -1.38888888888741095749e-03);
        p = fma(p, z, 4.16666666666666019037e-02);
        const f64 half = 0.5 * z, one = 1 - half;
        p = one + fma(z * z, p, (1 - one) - half);
    } else {
        p = 1.58969099521155010221e-10;
        p = fma(p, z, -2.50507602534068634195e-08);
        p = fma(p, z, 2.75573137070700676789e-06);
        p = fma(p, z, -1.98412698298579493134e-04);
        p = fma(p, z, 8.33333333332248946124e-03);
        p = fma(p, z, -1.66666666666666324348e-01);
        p = fma(p * z, rest, rest);
    }
    return quadrant & 2 ? -p : p;
}

// gpuframe_sin and gpuframe_cos have an error below two ulp for every finite x.
FUNCTION f64 gpuframe_sin(f64 x) {
    if (!(magnitude(x) < infinity))
        return not_a_number;
    if (magnitude(x) < 0x1p-27)
        return x; // keeps the sign of zero
    const Angle a = reduce(x);
    return sine_of(a.rest, a.quadrant);
}

FUNCTION f64 gpuframe_cos(f64 x) {
    if (!(magnitude(x) < infinity))
        return not_a_number;
    const Angle a = reduce(x);
    return sine_of(a.rest, a.quadrant + 1);
}
