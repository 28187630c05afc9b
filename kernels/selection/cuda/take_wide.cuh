// Takes values of any size, or in memory that is not aligned to their size, in smaller
// units. take_bits takes the validity.
#pragma once

#include "pair.cuh"

// Rows beyond the count are not written: they may be most of the capacity.
template <typename T, u32 items>
DEVICE void take_wide(T *out, const T *__restrict__ values, u32 units, const Any &source) {
    constexpr u32 tile = block_threads * items;
    const u64 first = (u64)block_in_grid() * tile;
    const u64 row = first / units;
    const u32 ahead = first - row * units;
    if (row >= source.n)
        return;
    u32 at[items], unit[items];
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u32 past = ahead + thread_in_block() + k * block_threads;
        at[k] = past / units, unit[k] = past % units;
    }
    u64 index[items];
    bool ok[items];
    const u32 rows = left(source.n, row);
    bool writes[items];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        writes[k] = at[k] < rows;
    read_rows(source, row, at, index, ok);
    T value[items];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        value[k] = filled<T>(0);
    if (source.limit != 0) // without rows nothing can be loaded
#pragma unroll
        for (u32 k = 0; k < items; k++)
            value[k] = values[index[k] * units + (ok[k] ? unit[k] : 0)];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        if (writes[k])
            out[first + thread_in_block() + k * block_threads] = pick(ok[k], value[k], filled<T>(0));
}

#define TAKE_WIDE(width, T)                                                                                            \
    KERNEL LAUNCH_BOUNDS(block_threads) take_wide_##width(T *out, const T *values, u32 units, ANY_SOURCE) {      \
        take_wide<T, 4>(out, values, units, any(GIVEN_ANY));                                                  \
    }
