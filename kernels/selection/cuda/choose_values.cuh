#pragma once

#include "choice.cuh"
#include "pair.cuh"

template <typename T, u32 items>
DEVICE void choose(T *out, u32 *out_valid, const Choice &choice, SIDES(T)) {
    const Warp<items> warp = warp_of<items>();
    if (warp.first >= n)
        return;
    u32 at[items];
    bool first[items], ok[items];
    choose_valid<items>(warp, choice, {a_valid, a_valid_at}, {b_valid, b_valid_at}, n, at, first, ok);
    a += a_at + warp.first, b += b_at + warp.first, out += warp.first;
    const u32 rows = left(n, warp.first);
    T x[items], y[items];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        x[k] = a[at[k]], y[k] = b[at[k]];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        if (const u32 i = warp.lane + k * warp_threads; i < rows)
            out[i] = pick(ok[k], pick(first[k], x[k], y[k]), filled<T>(0));
    if (out_valid != nullptr)
        write_bits<items>(out_valid, warp, n, ok);
}

#define CHOOSE(width, T, items)                                                                                        \
    KERNEL LAUNCH_BOUNDS(block_threads) choose_##width(T *out, u32 *out_valid, CHOICE, SIDES(T)) {                     \
        choose<T, items>(out, out_valid, GIVEN_CHOICE, GIVEN_SIDES);                                                   \
    }
