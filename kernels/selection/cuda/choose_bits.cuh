// Chooses between two columns of booleans.
#pragma once

#include "choice.cuh"

KERNEL LAUNCH_BOUNDS(block_threads) choose_bits(u32 *out, u32 *out_valid, CHOICE, SIDES(u8)) {
    constexpr u32 items = 4;
    const Warp<items> warp = warp_of<items>();
    if (warp.first >= n)
        return;
    u32 at[items];
    bool first[items], ok[items], set[items];
    choose_valid<items>(warp, GIVEN_CHOICE, {a_valid, a_valid_at}, {b_valid, b_valid_at}, n, at, first, ok);
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const bool x = bit(a, a_at + warp.first + at[k]), y = bit(b, b_at + warp.first + at[k]);
        set[k] = ok[k] && (first[k] ? x : y);
    }
    write_bits<items>(out, warp, n, set);
    if (out_valid != nullptr)
        write_bits<items>(out_valid, warp, n, ok);
}
