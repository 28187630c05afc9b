// Integers of 192 bits.
#pragma once

#include "gpuframe.cuh"

// Wide is an integer of 192 bits in two's complement, the lowest word first.
struct Wide {
    u64 word[3];
};

DEVICE Wide wide(u64 low, u64 middle, u64 high) { return Wide{{low, middle, high}}; }

DEVICE Wide sum_of(const Wide &a, const Wide &b) {
    Wide s;
    u64 carry = 0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const u64 part = a.word[i] + b.word[i];
        s.word[i] = part + carry;
        carry = (part < a.word[i]) | (s.word[i] < part);
    }
    return s;
}

DEVICE Wide negated(const Wide &a) { return sum_of(wide(~a.word[0], ~a.word[1], ~a.word[2]), wide(1, 0, 0)); }

DEVICE bool is_negative(const Wide &a) { return (i64)a.word[2] < 0; }

DEVICE bool is_zero(const Wide &a) { return (a.word[0] | a.word[1] | a.word[2]) == 0; }

// left and right shift numbers without a sign by n < 192 bits.
DEVICE Wide left(const Wide &a, u32 n) {
    Wide s = a;
    for (; n >= 64; n -= 64)
        s = wide(0, s.word[0], s.word[1]);
    if (n != 0)
        s = wide(s.word[0] << n, s.word[1] << n | s.word[0] >> 64 - n, s.word[2] << n | s.word[1] >> 64 - n);
    return s;
}

DEVICE Wide right(const Wide &a, u32 n) {
    Wide s = a;
    for (; n >= 64; n -= 64)
        s = wide(s.word[1], s.word[2], 0);
    if (n != 0)
        s = wide(s.word[0] >> n | s.word[1] << 64 - n, s.word[1] >> n | s.word[2] << 64 - n, s.word[2] >> n);
    return s;
}

DEVICE i32 length_of(const Wide &a) {
    for (int i = 2; i >= 0; i--)
        if (a.word[i] != 0)
            return 64 * i + 64 - __builtin_clzll(a.word[i]);
    return 0;
}
