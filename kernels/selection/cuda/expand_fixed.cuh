// Computes the indices of the elements of fixed-size lists.
#pragma once

#include "rows.cuh"

// expand_fixed writes the indices of the elements of fixed-size lists. The elements of
// rows without an index get the index none.
KERNEL LAUNCH_BOUNDS(block_threads) expand_fixed(u64 *out, u32 size, ANY_SOURCE) {
    const Any source = any(GIVEN_ANY);
    constexpr u32 items = 4;
    const u64 first = (u64)block_in_grid() * (block_threads * items);
    Elements<items> e = elements_of<items>(first, thread_in_block(), block_threads, size);
    if (e.row >= source.capacity)
        return;
    const u32 room = left(source.capacity, e.row);
    u64 index[items];
    bool ok[items], writes[items];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        writes[k] = e.at[k] < room;
    read_rows(source, e.row, e.at, index, ok);
#pragma unroll
    for (u32 k = 0; k < items; k++)
        if (writes[k])
            out[first + thread_in_block() + k * block_threads] = ok[k] ? index[k] * size + e.past[k] : none;
}
