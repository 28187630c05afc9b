#pragma once
#include "math.cuh"

// Wide is a decimal's 128 bits.
struct Wide {
    u64 low, high;
};

// Checked is a result that may not fit.
struct Checked {
    u64 low, high, fits;
};

DEVICE Wide negate(Wide a) { return {0 - a.low, ~a.high + (a.low == 0)}; }
DEVICE Wide absolute(Wide a) { return (i64)a.high < 0 ? negate(a) : a; }

// is_short reports whether a number has 64 bits with its sign, as most decimals do.
DEVICE bool is_short(u64 low, u64 high) { return high == (u64)((i64)low >> 63); }

// gpuframe_decimal_multiply multiplies, and reports whether the product is strictly
// between −limit and limit.
FUNCTION Checked gpuframe_decimal_multiply(u64 a_low, u64 a_high, u64 b_low, u64 b_high, u64 limit_low, u64 limit_high) {
    if (is_short(a_low, a_high) && is_short(b_low, b_high)) { // the product has 128 bits
        const u64 low = a_low * b_low, high = (u64)((__int128)(i64)a_low * (i64)b_low >> 64);
        const Wide size = absolute({low, high});
        return {low, high, size.high < limit_high || (size.high == limit_high && size.low < limit_low)};
    }
    const Wide a = absolute({a_low, a_high}), b = absolute({b_low, b_high});
    // The four products of words. Bits beyond 128 only have to be detected.
    const u64 low = a.low * b.low, carry = multiply_high(a.low, b.low);
    const u64 first = a.low * b.high, second = a.high * b.low;
    bool beyond = (a.high && b.high) || multiply_high(a.low, b.high) || multiply_high(a.high, b.low);
    u64 high = carry + first;
    beyond |= high < first;
    high += second;
    beyond |= high < second;
    const bool fits = !beyond && (high < limit_high || (high == limit_high && low < limit_low));
    const Wide product = (i64)(a_high ^ b_high) < 0 ? negate({low, high}) : Wide{low, high};
    return {product.low, product.high, fits};
}

// divide returns (high, low) / d for high < d, with two digits of 32 bits: Knuth's
// algorithm D, as in Warren's "Hacker's Delight".
DEVICE u64 divide(u64 high, u64 low, u64 d) {
    const u32 shift = (u32)__builtin_clzll(d);
    d <<= shift;
    if (shift)
        high = high << shift | low >> (64 - shift), low <<= shift;
    const u64 d1 = d >> 32, d0 = d & 0xffffffff;
    u64 quotient = 0;
#pragma unroll
    for (u32 i = 0; i < 2; i++) {
        const u64 next = i ? low & 0xffffffff : low >> 32;
        u64 q = high / d1, r = high - q * d1;
        while (q >> 32 || q * d0 > (r << 32 | next)) {
            q--, r += d1;
            if (r >> 32)
                break;
        }
        high = (high << 32 | next) - q * d;
        quotient = quotient << 32 | q;
    }
    return quotient;
}

// gpuframe_decimal_divide divides by a positive number of 64 bits after it has added more to the magnitude:
// it truncates with 0 and rounds half away from zero with d / 2.
FUNCTION Wide gpuframe_decimal_divide(u64 low, u64 high, u64 d, u64 more) {
    Wide a = absolute({low, high});
    a.low += more;
    a.high += a.low < more;
    const u64 q = a.high / d;
    const Wide quotient = {divide(a.high - q * d, a.low, d), q};
    return (i64)high < 0 ? negate(quotient) : quotient;
}
