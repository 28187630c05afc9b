// The last steps of sums and means of decimals.
#pragma once

#include "wide.cuh"

DEVICE bool fits_decimal(Wide x) {
    if (is_negative(x))
        x = negated(x);
    const u64 high = 0x4b3b4ca85a86c47a, low = 0x98a224000000000; // the smallest number of 39 digits
    return x.word[2] == 0 && (x.word[1] < high || x.word[1] == high && x.word[0] < low);
}

// divided replaces x by x / n, rounded down, and returns the rest. n has 32 bits.
DEVICE u64 divided(Wide &x, u32 n) {
    u64 rest = 0;
#pragma unroll
    for (int i = 2; i >= 0; i--) {
        const u64 upper = rest << 32 | x.word[i] >> 32, high = upper / n, lower = upper % n << 32 | x.word[i] & 0xffffffff, low = lower / n;
        x.word[i] = high << 32 | low;
        rest = lower - low * n;
    }
    return rest;
}

// divided_slowly is divided for n of 64 bits.
DEVICE u64 divided_slowly(Wide &x, u64 n) {
    Wide quotient = wide(0, 0, 0);
    u64 rest = 0;
#pragma unroll 1
    for (int i = 0; i < 192; i++) {
        const bool carry = rest >> 63 != 0;
        rest = rest << 1 | x.word[2] >> 63;
        x = left(x, 1);
        quotient = left(quotient, 1);
        if (carry || rest >= n) {
            rest -= n;
            quotient.word[0] |= 1;
        }
    }
    x = quotient;
    return rest;
}

// mean_decimal returns x · factor / n rounded half away from zero: Go's aggregate.DecimalMean. The product
// has 192 bits.
template <typename Count> DEVICE Wide mean_decimal(Wide x, Count n, u32 factor) {
    const bool negative = is_negative(x);
    if (negative)
        x = negated(x);
    const auto high = [&](int i) { return (u64)((unsigned __int128)x.word[i] * factor >> 64); };
    x = sum_of(wide(x.word[0] * factor, x.word[1] * factor, x.word[2] * factor), wide(0, high(0), high(1)));
    const u64 rest = sizeof(Count) == 4 ? divided(x, (u32)n) : divided_slowly(x, n);
    if (rest >= n - rest)
        x = sum_of(x, wide(1, 0, 0));
    return negative ? negated(x) : x;
}
