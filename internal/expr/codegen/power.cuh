#pragma once
#include "math.cuh"

// Pair is a number with twice the digits, high + low.
struct Pair {
    f64 high, low;
};

// quick_sum adds two numbers. The first is the larger in magnitude, or zero.
DEVICE Pair quick_sum(f64 a, f64 b) {
    const f64 sum = a + b;
    return {sum, b - (sum - a)};
}

// logarithm returns log x for a positive finite x, to some 2^-65 of it. With
// q = (m − 1) / (m + 1), log m = 2 artanh q = 2 q + q³ (2/3 + 2/5 q² + 2/7 q⁴ …);
// q, its cube and 2/3 are kept in pairs (Dekker 1971).
DEVICE Pair logarithm(f64 x) {
    const Parts p = parts_of(x);
    const f64 f = p.m - 1, g = p.m + 1, g_low = p.m - (g - 1);
    const f64 q = f / g;
    const f64 q_low = fma(-q, g_low, fma(-q, g, f)) / g;
    const f64 z = q * q, z_low = fma(q, q, -z) + 2 * q * q_low;
    const f64 cube = z * q, cube_low = fma(z, q, -cube) + fma(z, q_low, z_low * q);
    f64 s = 2.0 / 29;
    s = fma(s, z, 2.0 / 27);
    s = fma(s, z, 2.0 / 25);
    s = fma(s, z, 2.0 / 23);
    s = fma(s, z, 2.0 / 21);
    s = fma(s, z, 2.0 / 19);
    s = fma(s, z, 2.0 / 17);
    s = fma(s, z, 2.0 / 15);
    s = fma(s, z, 2.0 / 13);
    s = fma(s, z, 2.0 / 11);
    s = fma(s, z, 2.0 / 9);
    s = fma(s, z, 2.0 / 7);
    s = fma(s, z, 2.0 / 5);
    Pair sum = quick_sum(0x1.5555555555555p-1, s * z);
    sum.low += 0x1.5555555555555p-55;
    const f64 term = cube * sum.high;
    const f64 term_low = fma(cube, sum.high, -term) + fma(cube, sum.low, cube_low * sum.high);
    const f64 k = p.k;
    const Pair first = quick_sum(k * ln2_high, 2 * q);
    const Pair second = quick_sum(first.high, term);
    // The product of ln2_low takes two words if k is not zero.
    const f64 rest = k * ln2_low;
    const Pair third = quick_sum(second.high, rest);
    const f64 lower = fma(k, ln2_low, -rest) + k * ln2_lower;
    return quick_sum(third.high, first.low + second.low + third.low + (term_low + 2 * q_low + lower));
}

DEVICE bool whole(f64 y) { return __builtin_trunc(y) == y; }
DEVICE bool odd(f64 y) { return whole(y) && !whole(0.5 * y); }

// gpuframe_pow returns x^y as in C99, special cases included, to about an ulp.
FUNCTION f64 gpuframe_pow(f64 x, f64 y) {
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return not_a_number;
    const f64 a = magnitude(x);
    const bool minus = negative(x) && odd(y);
    f64 result;
    if (magnitude(y) == infinity)
        return a == 1 ? 1 : (a > 1) == (y > 0) ? infinity : 0;
    if (a == 0 || a == infinity) {
        result = (a == 0) == (y < 0) ? infinity : 0;
    } else {
        if (x < 0 && !whole(y))
            return not_a_number;
        const Pair l = logarithm(a);
        const f64 product = y * l.high;
        // If the product is out of range, so is its low part.
        const f64 low = magnitude(product) < 1e4 ? fma(y, l.high, -product) + y * l.low : 0;
        result = exponential(product, low);
    }
    return minus ? -result : result;
}
