// Takes several bits for each row.
#pragma once

#include "rows.cuh"

// take_wide_bits takes size bits per row: the validity of the elements of fixed-size
// lists, or elements that are booleans. Without input all bits are set. Rows that are
// null or beyond the count have no bit set.
template <u32 items, typename S>
DEVICE void take_wide_bits(u32 *out, const u8 *__restrict__ bits, u64 bits_at, u32 size, const S &source) {
    const Warp<items> warp = warp_of<items>();
    const u64 total = source.capacity * size, row = warp.first / size;
    if (warp.first >= total)
        return;
    const u32 ahead = warp.first - row * size;
    bool set[items];
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u32 past = ahead + warp.lane + k * warp_threads;
        typename S::Index index[1];
        bool ok[1];
        const u64 i = row + past / size;
        read<1>(source, i < source.capacity ? i : row, 0, 0, index, ok);
        set[k] = ok[0] && i < source.capacity && bit(bits, bits_at + (u64)index[0] * size + past % size);
    }
    write_bits<items>(out, warp, total, set);
}

#define TAKE_WIDE_BITS(order, source)                                                                                  \
    KERNEL LAUNCH_BOUNDS(block_threads) take_wide_bits_##order(u32 *out, const u8 *bits, u64 bits_at, u32 size, SOURCE) { \
        take_wide_bits<8>(out, bits, bits_at, size, source);                                                           \
    }
