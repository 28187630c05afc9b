// Takes several bits for each row.
#pragma once

#include "rows.cuh"

// take_wide_bits takes size bits per row: the validity of the elements of fixed-size
// lists, or elements that are booleans. Without input all bits are set. Rows that are
// null or beyond the count have no bit set.
KERNEL LAUNCH_BOUNDS(block_threads)
    take_wide_bits(u32 *out, const u8 *__restrict__ bits, u64 bits_at, u32 size, ANY_SOURCE) {
    constexpr u32 items = 8;
    const Any source = any(GIVEN_ANY);
    const Warp<items> warp = warp_of<items>();
    const u64 total = source.capacity * size;
    if (warp.first >= total)
        return;
    Elements<items> e = elements_of<items>(warp.first, warp.lane, warp_threads, size);
    u64 index[items];
    bool set[items];
    read_rows(source, e.row, e.at, index, set);
#pragma unroll
    for (u32 k = 0; k < items; k++)
        set[k] = set[k] && bit(bits, bits_at + index[k] * size + e.past[k]);
    write_bits<items>(out, warp, total, set);
}
