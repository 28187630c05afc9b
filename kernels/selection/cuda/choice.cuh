// Row by row choice between two columns.
#pragma once

#include "rows.cuh"

// Choice is a column of booleans: true selects the first column, false the second, and
// null neither.
struct Choice {
    const u8 *bits;
    u64 bits_at;
    const u8 *valid;
    u64 valid_at;
};

#define CHOICE const u8 *mask, u64 mask_at, const u8 *mask_valid, u64 mask_valid_at
#define GIVEN_CHOICE                                                                                                   \
    { mask, mask_at, mask_valid, mask_valid_at }
#define SIDES(T)                                                                                                       \
    const T *a, u64 a_at, const u8 *a_valid, u64 a_valid_at, const T *b, u64 b_at, const u8 *b_valid, u64 b_valid_at, u64 n
#define GIVEN_SIDES a, a_at, a_valid, a_valid_at, b, b_at, b_valid, b_valid_at, n

// choose_valid returns, for each of a warp's rows, the choice and whether it selects a
// value that is not null.
template <u32 items>
DEVICE void choose_valid(const Warp<items> &warp, const Choice &choice, const u8 *a_valid, u64 a_valid_at, const u8 *b_valid,
                         u64 b_valid_at, u64 n, u64 (&at)[items], bool (&first)[items], bool (&ok)[items]) {
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u64 i = warp.first + warp.lane + k * warp_threads;
        ok[k] = i < n;
        at[k] = ok[k] ? i : n - 1;
        first[k] = bit(choice.bits, choice.bits_at + at[k]);
    }
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const bool chosen = bit(choice.valid, choice.valid_at + at[k]);
        const bool valid = first[k] ? bit(a_valid, a_valid_at + at[k]) : bit(b_valid, b_valid_at + at[k]);
        ok[k] = ok[k] && chosen && valid;
    }
}
