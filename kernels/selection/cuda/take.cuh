// Takes values of a fixed width, and their validity, in one kernel.
#pragma once

#include "pair.cuh"

// take copies one value per row of the output. Null rows become the filling, so that no
// earlier content of the memory remains under a null.
template <typename T, u32 items, typename S>
DEVICE void take(T *out, u32 *out_valid, const T *__restrict__ values, const u8 *__restrict__ valid, u64 valid_at, T filling,
                 const S &source) {
    const Warp<items> warp = warp_of<items>();
    if (warp.first >= source.capacity)
        return;
    typename S::Index index[items];
    bool ok[items];
    read<items>(source, warp.first, warp.lane, warp_threads, index, ok);
    T value[items];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        value[k] = filling;
    if (source.limit != 0) { // without rows nothing can be loaded
#pragma unroll
        for (u32 k = 0; k < items; k++)
            value[k] = values[index[k]];
        read_valid<items>(valid, valid_at, index, ok);
    }
    const u32 rows = left(source.capacity, warp.first);
    out += warp.first;
#pragma unroll
    for (u32 k = 0; k < items; k++)
        if (const u32 i = warp.lane + k * warp_threads; i < rows)
            out[i] = pick(ok[k], value[k], filling);
    if (out_valid != nullptr)
        write_bits<items>(out_valid, warp, source.capacity, ok);
}

// RESIDENT limits the registers so that this number of blocks fits on a multiprocessor.
// Their loads in flight are more than enough to saturate the memory. The number is the
// largest without spills.
#define RESIDENT(blocks) __attribute__((launch_bounds(block_threads, blocks)))

// TAKE defines the kernels for values of one width: for indices of 32 and of 64 bits.
// TAKE_ANY defines one kernel for both.
#define TAKE(width, T, items)                                                                                          \
    TAKE_BY(take_##width##_32, 6, T, items, listed<u32>(GIVEN_SOURCE), SOURCE)                                         \
    TAKE_BY(take_##width##_64, 5, T, items, listed<u64>(GIVEN_SOURCE), SOURCE)
#define TAKE_ANY(width, T, items) TAKE_BY(take_##width, 5, T, items, any(GIVEN_ANY), ANY_SOURCE)
#define TAKE_BY(name, blocks, T, items, source, ...)                                                                   \
    KERNEL RESIDENT(blocks) name(T *out, u32 *out_valid, const T *values, const u8 *valid, u64 valid_at, u64 filling,  \
                                 __VA_ARGS__) {                                                                        \
        take<T, items>(out, out_valid, values, valid, valid_at, filled<T>(filling), source);                           \
    }
