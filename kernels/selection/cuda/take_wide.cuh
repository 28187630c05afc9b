// Takes values of any size, or in memory that is not aligned to their size, in smaller
// units. take_bits takes the validity.
#pragma once

#include "pair.cuh"

// Rows beyond the count are not written: they may be most of the capacity.
template <typename T, u32 items>
DEVICE void take_wide(T *out, const T *__restrict__ values, u32 units, const Any &source) {
    const u64 first = (u64)block_in_grid() * (block_threads * items);
    Elements<items> e = elements_of<items>(first, thread_in_block(), block_threads, units);
    if (e.row >= source.n)
        return;
    const u32 room = left(source.n, e.row);
    u64 index[items];
    bool ok[items], writes[items];
    T value[items];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        writes[k] = e.at[k] < room, value[k] = filled<T>(0);
    read_rows(source, e.row, e.at, index, ok);
    if (source.limit != 0) // without rows nothing can be loaded
#pragma unroll
        for (u32 k = 0; k < items; k++)
            value[k] = values[index[k] * units + (ok[k] ? e.past[k] : 0)];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        if (writes[k])
            out[first + thread_in_block() + k * block_threads] = pick(ok[k], value[k], filled<T>(0));
}

#define TAKE_WIDE(width, T)                                                                                            \
    KERNEL LAUNCH_BOUNDS(block_threads) take_wide_##width(T *out, const T *values, u32 units, ANY_SOURCE) {      \
        take_wide<T, 4>(out, values, units, any(GIVEN_ANY));                                                  \
    }
