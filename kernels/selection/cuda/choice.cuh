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

// Side is the validity of one of the columns.
struct Side {
    const u8 *valid;
    u64 valid_at;
};

// choose_valid returns, for each of a warp's rows, its position after the first row of
// the warp, the choice, and whether it selects a value that is not null. The position
// of rows beyond n is 0. All loads of a bitmap are in flight together.
template <u32 items>
DEVICE void choose_valid(const Warp<items> &warp, const Choice &choice, const Side &a, const Side &b, u64 n, u32 (&at)[items],
                         bool (&first)[items], bool (&ok)[items]) {
    const u32 rows = left(n, warp.first);
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        at[k] = warp.lane + k * warp_threads;
        ok[k] = at[k] < rows;
        at[k] = ok[k] ? at[k] : 0;
        first[k] = true;
    }
    read_valid<items>(choice.bits, choice.bits_at + warp.first, at, first);
    // The validity of the choice, of the first and of the second column: a loop, so that
    // the code exists once.
#pragma nounroll
    for (u32 bitmap = 0; bitmap < 3; bitmap++) {
        const u8 *valid = bitmap == 0 ? choice.valid : bitmap == 1 ? a.valid : b.valid;
        const u64 valid_at = warp.first + (bitmap == 0 ? choice.valid_at : bitmap == 1 ? a.valid_at : b.valid_at);
        if (valid != nullptr)
#pragma unroll
            for (u32 k = 0; k < items; k++)
                ok[k] = (bit(valid, valid_at + at[k]) || bitmap != 0 && first[k] != (bitmap == 1)) && ok[k];
    }
}
