// Sums of floats in fixed point: exact_sum.go describes the state.
#pragma once

#include "wide.cuh"

// add, subtract and multiply are rounded to nearest, and not contracted to one instruction.
DEVICE f64 add(f64 a, f64 b) { return __nvvm_add_rn_d(a, b); }
DEVICE f64 subtract(f64 a, f64 b) { return __nvvm_add_rn_d(a, -b); }
DEVICE f64 multiply(f64 a, f64 b) { return __nvvm_mul_rn_d(a, b); }

static constexpr u32 bin_bits = 28, sum_pieces = 3, sum_top = 0, sum_flags = 1, sum_first_bin = 2;
static constexpr u64 flag_nan = 1, flag_positive = 2, flag_negative = 4, special_flags = 7;
static constexpr u64 flag_inexact = 8, flag_window_below = 16, flag_window_at = 32;

// moved_flags returns the flags of a state of which the top is raised by some bins.
DEVICE u64 moved_flags(u64 flags, u64 bins) {
    const u64 at = flags & flag_window_at, below = flags & flag_window_below;
    if (bins == 0 || (at | below) == 0)
        return flags;
    flags &= ~(flag_window_at | flag_window_below);
    if (bins > 1 || below != 0)
        flags |= flag_inexact;
    return bins == 1 && at != 0 ? flags | flag_window_below : flags;
}

// Pieces is a float64 as pieces. top is the number of the lowest piece plus 1, or 0
// without pieces. piece has the pieces of this bin and of the two above, the highest first.
struct Pieces {
    u64 top, flags;
    u64 piece[sum_pieces];
};

DEVICE Pieces pieces_of(f64 x) {
    Pieces p = {0, 0, {0, 0, 0}};
    const u64 image = __builtin_bit_cast(u64, x), significand = image & (1ull << 52) - 1;
    const u32 exponent = (u32)(image >> 52) & 0x7ff;
    const bool negative = image >> 63 != 0;
    if (exponent == 0x7ff) {
        p.flags = significand != 0 ? flag_nan : negative ? flag_negative : flag_positive;
        return p;
    }
    if (exponent == 0 && significand == 0)
        return p;
    const u64 whole = exponent == 0 ? significand : significand | 1ull << 52;
    const u32 place = exponent == 0 ? 0 : exponent - 1, lowest = place / bin_bits, shift = place % bin_bits;
    const u64 mask = (1ull << bin_bits) - 1, low = whole << shift, high = shift == 0 ? 0 : whole >> 64 - shift;
    p.top = lowest + 1;
    p.piece[0] = low >> 2 * bin_bits | high << 64 - 2 * bin_bits;
    p.piece[1] = low >> bin_bits & mask;
    p.piece[2] = low & mask;
    if (negative) {
#pragma unroll
        for (u64 &piece : p.piece)
            piece = 0 - piece;
    }
    return p;
}

DEVICE Wide with_sign(u64 x) {
    const u64 sign = (u64)((i64)x >> 63);
    return wide(x, sign, sign);
}

// rounded returns a · 2^exponent rounded to float64. It replaces a by the rest that the
// rounding dropped, as an integer of the same unit.
static inline __device__ __attribute__((noinline)) f64 rounded(Wide &a, i32 exponent) {
    const bool negative = is_negative(a);
    Wide w = negative ? negated(a) : a;
    a = wide(0, 0, 0);
    const i32 length = length_of(w);
    if (length == 0)
        return 0;
    const i32 unit = length - 53 > -1074 - exponent ? length - 53 : -1074 - exponent;
    u64 significand;
    if (unit <= 0)
        significand = left(w, (u32)-unit).word[0];
    else {
        Wide kept = right(w, (u32)unit), below = sum_of(w, negated(left(kept, (u32)unit)));
        const Wide difference = sum_of(below, negated(left(wide(1, 0, 0), (u32)unit - 1)));
        if (!is_negative(difference) && (!is_zero(difference) || (kept.word[0] & 1) != 0)) {
            kept.word[0]++;
            below = sum_of(below, negated(left(wide(1, 0, 0), (u32)unit)));
        }
        significand = kept.word[0];
        a = negative ? negated(below) : below;
    }
    u64 image = significand;
    if (significand >> 52 != 0)
        image = ((u64)(i64)(exponent + unit + 1075) << 52) + significand - (1ull << 52);
    const u64 infinity = 0x7ffull << 52;
    image = image < infinity ? image : infinity;
    return __builtin_bit_cast(f64, negative ? image | 1ull << 63 : image);
}

// Double is an unevaluated sum of two floats.
struct Double {
    f64 high, low;
};

DEVICE Double exact_product(f64 x, f64 y) {
    const f64 high = multiply(x, y);
    return Double{high, __builtin_fma(x, y, -high)};
}

DEVICE Double quick_sum(f64 x, f64 y) {
    const f64 high = add(x, y);
    return Double{high, subtract(y, subtract(high, x))};
}

DEVICE Double plus(Double a, Double b) {
    const f64 high = add(a.high, b.high), part = subtract(high, a.high);
    const f64 low = add(subtract(a.high, subtract(high, part)), subtract(b.high, part));
    return quick_sum(high, add(low, add(a.low, b.low)));
}

DEVICE Double minus(Double a, Double b) { return plus(a, Double{-b.high, -b.low}); }

DEVICE Double times(Double a, Double b) {
    const Double p = exact_product(a.high, b.high);
    return quick_sum(p.high, add(p.low, add(multiply(a.high, b.low), multiply(a.low, b.high))));
}

DEVICE Double times(Double a, f64 x) { return times(a, Double{x, 0}); }

DEVICE bool is_finite(f64 x) { return (__builtin_bit_cast(u64, x) >> 52 & 0x7ff) != 0x7ff; }

// float_sum returns the sum of a state of some words, rounded once, and the rest that the
// rounding dropped.
static inline __device__ __attribute__((noinline)) Double float_sum(const u64 *state, u32 words) {
    const u64 flags = state[sum_flags] & special_flags;
    if ((flags & flag_nan) != 0 || (flags & (flag_positive | flag_negative)) == (flag_positive | flag_negative))
        return Double{__builtin_bit_cast(f64, 0x7ff8000000000000ull), 0};
    if (flags != 0)
        return Double{__builtin_bit_cast(f64, (flags & flag_positive) != 0 ? 0x7ffull << 52 : 0xfffull << 52), 0};
    Wide total = wide(0, 0, 0);
    const u32 bins = words - sum_first_bin;
    for (u32 i = 0; i < bins; i++)
        total = sum_of(total, left(with_sign(state[sum_first_bin + i]), bin_bits * (bins - 1 - i)));
    const i32 exponent = (i32)bin_bits * ((i32)state[sum_top] - 1 - (i32)(bins - sum_pieces)) - 1074;
    const f64 high = rounded(total, exponent), low = rounded(total, exponent);
    return Double{high, low};
}
