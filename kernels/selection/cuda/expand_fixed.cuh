// Computes the indices of the elements of fixed-size lists.
#pragma once

#include "rows.cuh"

// expand_fixed writes the indices of the elements of fixed-size lists. The elements of
// rows without an index get the index none.
template <typename S> DEVICE void expand_fixed(u64 *out, u32 size, const S &source) {
    constexpr u32 items = 4;
    const u64 first = (u64)block_in_grid() * (block_threads * items);
    const u64 row = first / size;
    const u32 ahead = first - row * size;
    if (row >= source.capacity)
        return;
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u32 local = thread_in_block() + k * block_threads, past = ahead + local;
        typename S::Index index[1];
        bool ok[1];
        const u64 i = row + past / size;
        read<1>(source, i < source.capacity ? i : row, 0, 0, index, ok);
        if (i < source.capacity)
            out[first + local] = ok[0] ? (u64)index[0] * size + past % size : none;
    }
}

#define EXPAND_FIXED(order, source)                                                                                    \
    KERNEL LAUNCH_BOUNDS(block_threads) expand_fixed_##order(u64 *out, u32 size, SOURCE) { expand_fixed(out, size, source); }
