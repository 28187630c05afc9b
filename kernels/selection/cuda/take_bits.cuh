// Takes bits, and validity.
#pragma once

#include "rows.cuh"

// take_bits takes bits and their validity. Without values, or without an output for
// them, it takes only the validity, as types of other layouts need. Without any output
// it only checks the indices.
KERNEL LAUNCH_BOUNDS(block_threads)
    take_bits(u32 *out, u32 *out_valid, const u8 *__restrict__ values, u64 values_at, const u8 *__restrict__ valid, u64 valid_at, ANY_SOURCE) {
    constexpr u32 items = 8;
    const Any source = any(GIVEN_ANY);
    const Warp<items> warp = warp_of<items>();
    if (warp.first >= source.capacity)
        return;
    u64 index[items];
    bool ok[items], set[items];
    read<items>(source, warp.first, warp.lane, warp_threads, index, ok);
#pragma unroll
    for (u32 k = 0; k < items; k++)
        set[k] = false;
    if (source.limit != 0) { // without rows nothing can be loaded
        if (values != nullptr)
#pragma unroll
            for (u32 k = 0; k < items; k++)
                set[k] = bit(values, values_at + index[k]);
        read_valid<items>(valid, valid_at, index, ok);
    }
#pragma unroll
    for (u32 k = 0; k < items; k++)
        set[k] = set[k] && ok[k];
    if (out != nullptr)
        write_bits<items>(out, warp, source.capacity, set);
    if (out_valid != nullptr)
        write_bits<items>(out_valid, warp, source.capacity, ok);
}
