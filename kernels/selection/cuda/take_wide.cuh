// Takes values of any size, or in memory that is not aligned to their size, in smaller
// units. take_bits takes the validity.
#pragma once

#include "rows.cuh"

// Rows beyond the count are not written: they may be most of the capacity.
template <typename T, u32 items, typename S>
DEVICE void take_wide(T *out, const T *__restrict__ values, u32 units, const S &source) {
    constexpr u32 tile = block_threads * items;
    const u64 first = (u64)block_in_grid() * tile;
    const u64 row = first / units;
    const u32 ahead = first - row * units;
    if (row >= source.n)
        return;
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u32 local = thread_in_block() + k * block_threads, past = ahead + local;
        typename S::Index index[1];
        bool ok[1];
        const u64 i = row + past / units;
        read<1>(source, i < source.n ? i : row, 0, 0, index, ok);
        T value = {};
        if (ok[0] && i < source.n)
            value = values[(u64)index[0] * units + past % units];
        if (i < source.n)
            out[first + local] = value;
    }
}

#define TAKE_WIDE(width, T)                                                                                            \
    KERNEL LAUNCH_BOUNDS(block_threads) take_wide_##width##_32(T *out, const T *values, u32 units, SOURCE) {           \
        take_wide<T, 4>(out, values, units, listed<u32>(GIVEN_SOURCE));                                                \
    }                                                                                                                  \
    KERNEL LAUNCH_BOUNDS(block_threads) take_wide_##width##_64(T *out, const T *values, u32 units, SOURCE) {           \
        take_wide<T, 4>(out, values, units, listed<u64>(GIVEN_SOURCE));                                                \
    }                                                                                                                  \
    KERNEL LAUNCH_BOUNDS(block_threads) take_wide_##width##_rule(T *out, const T *values, u32 units, SOURCE) {         \
        take_wide<T, 4>(out, values, units, ruled(GIVEN_SOURCE));                                                      \
    }
