// Checks that values ascend: offsets and run ends.
#pragma once

#include "search.cuh"

// shuffle_from returns the value of another lane.
DEVICE u32 shuffle_from(u32 value, u32 lane) { return __nvvm_shfl_sync_idx_i32(whole_warp, value, lane, warp_threads - 1); }
DEVICE u64 shuffle_from(u64 value, u32 lane) {
    return (u64)shuffle_from((u32)(value >> 32), lane) << 32 | shuffle_from((u32)value, lane);
}

// disorder has its highest bit set if value is negative, or less than before + apart;
// apart must be 0 or 1. If before is negative the result may be wrong, but then the
// check of before fails.
template <typename T> DEVICE T disorder(T before, T value, T apart) { return value | (value - before - apart); }

// ascending checks that n values ascend, the first from 0, and are at most limit. apart
// is the minimum difference, 0 or 1. Values of the unsigned type T are read at the
// memory's speed.
//
// A warp reads tiles of several groups of 16 bytes a lane at a time. The value before a
// lane's group comes from the previous lane, so each value is read once. Values before
// the first 16-byte boundary and after the last tile are checked one at a time.
template <typename T> DEVICE void ascending(const u8 *values, u64 n, u32 width, u64 apart, u64 limit, Result *result) {
    constexpr u32 each = 16 / sizeof(T), batch = 4, highest = 8 * sizeof(T) - 1;
    constexpr u64 tile = batch * warp_threads * each;
    typedef Vector<T, each> Group;
    const Groups groups = groups_of(values, n, width, width == sizeof(T));
    const u64 thread = thread_in_grid(), threads = threads_per_grid();
    const u64 head = groups.head, tiles = groups.count / (batch * warp_threads);
    const u32 lane = lane_in_warp();
    u64 suspect = none; // start of the first group with an error
    // Blocks are whole warps, so that all lanes of a warp have the same tiles.
#pragma nounroll
    for (u64 t = thread / warp_threads; t < tiles; t += threads / warp_threads) {
        const u64 start = head + t * tile;
        const Group *from = (const Group *)((const T *)values + start) + lane;
        Group group[batch];
#pragma unroll
        for (u32 g = 0; g < batch; g++)
            group[g] = from[g * warp_threads];
        // The value that the last lane passes to the first: the last value of the
        // previous groups.
        T carried = start > 0 ? ((const T *)values)[start - 1] : (T)0;
#pragma unroll
        for (u32 g = 0; g < batch; g++) {
            const T last = group[g].lane[each - 1];
            T before = shuffle_from(lane == warp_threads - 1 ? carried : last, (lane + warp_threads - 1) % warp_threads);
            carried = last;
            // If the values ascend, only the last can be the first beyond limit.
            T wrong = (T)limit - last;
#pragma unroll
            for (u32 j = 0; j < each; j++) {
                wrong |= disorder<T>(before, group[g].lane[j], apart);
                before = group[g].lane[j];
            }
            if (wrong >> highest && suspect == none) // a thread's tiles and groups ascend
                suspect = start + (g * warp_threads + lane) * each;
        }
    }

    // The values of the group with the error, and those outside the tiles.
    u64 bad = none;
    u32 j = suspect == none ? each : 0;
    u64 r = thread;
#pragma nounroll
    while (j < each || r < n - tiles * tile) {
        u64 i = suspect + j;
        if (j < each)
            j++;
        else {
            i = r < head ? r : r + tiles * tile;
            r += threads;
        }
        const i64 before = i > 0 ? load_signed(values, i - 1, width) : 0, value = load_signed(values, i, width);
        if (i < bad && ((i64)disorder<u64>(before, value, apart) < 0 || value > (i64)limit))
            bad = i;
    }
    report(result, bad);
    // Only valid values matter. They are not negative, so the bits above their bytes
    // may stay zero.
    if (thread < width) {
        ((u8 *)&result->first)[thread] = values[thread];
        ((u8 *)&result->last)[thread] = values[(n - 1) * width + thread];
    }
}

// check_ascending_32 checks values of 4 bytes, and of 2. Values of 2 bytes need no
// speed: at most 32,767 of them can be valid.
KERNEL check_ascending_32(const u8 *__restrict__ values, u64 n, u64 width, u64 apart, u64 limit, Result *result) {
    ascending<u32>(values, n, width, apart, limit, result);
}

// check_ascending_64 takes values of 8 bytes.
KERNEL check_ascending_64(const u8 *__restrict__ values, u64 n, u64 apart, u64 limit, Result *result) {
    ascending<u64>(values, n, 8, apart, limit, result);
}
