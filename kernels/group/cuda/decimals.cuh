// The last steps of sums and means of decimals.
#pragma once

#include "exact_sum.cuh"

DEVICE bool fits_decimal(Wide x) {
    if (is_negative(x))
        x = negated(x);
    const u64 high = 0x4b3b4ca85a86c47a, low = 0x98a224000000000; // the smallest number of 39 digits
    return x.word[2] == 0 && (x.word[1] < high || x.word[1] == high && x.word[0] < low);
}

// mean_decimal returns x / n rounded half away from zero.
DEVICE Wide mean_decimal(Wide x, u64 n) {
    const bool negative = is_negative(x);
    if (negative)
        x = negated(x);
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
    if (rest >= n - rest)
        quotient = sum_of(quotient, wide(1, 0, 0));
    return negative ? negated(quotient) : quotient;
}
