// The bits of zeros and NaNs after a sort of floats.
//
// −0 and 0 have one key, and all NaNs have one, so that the passes write 0 and one NaN. Equal
// keys keep their order: zero number i of the input is zero number i of the result.
#pragma once

#include "plan.cuh"

static constexpr u32 restore_threads = 256, restore_warps = restore_threads / warp_threads;

// Part is the number of zeros and NaNs in the rows of a block. The blocks have equal parts.
struct Part {
    u32 zeros, nans;
};

DEVICE u64 part_rows(u64 n) {
    const u64 each = (n + blocks_per_grid() - 1) / blocks_per_grid();
    return (each + restore_threads - 1) / restore_threads * restore_threads;
}

// count_specials counts the zeros and NaNs of each part.
template <typename Key> DEVICE void count_specials(const Call &call, Part *parts) {
    __shared__ u32 sums[restore_warps];
    if (call.plan->lossy == 0)
        return;
    const u64 n = call.count(), begin = block_in_grid() * part_rows(n), end = begin + part_rows(n);
    const Key *const values = call.key<Key>(input);
    u32 zeros = 0, nans = 0, all_zeros, all_nans;
    for (u64 i = begin + thread_in_block(); i < end && i < n; i += restore_threads) {
        zeros += call.encoding.is_zero(values[i]);
        nans += call.encoding.is_nan(values[i]);
    }
    block_fold_before<restore_warps>(warp_fold(zeros, Sum<u32>()), sums, all_zeros, Sum<u32>());
    block_fold_before<restore_warps>(warp_fold(nans, Sum<u32>()), sums, all_nans, Sum<u32>());
    if (thread_in_block() == 0)
        parts[block_in_grid()] = {all_zeros, all_nans};
}

// first_of returns the place of the first sorted value with a key.
template <typename Key> DEVICE u64 first_of(const Call &call, const Key *sorted, Key key) {
    u64 low = 0, high = call.count();
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (call.encoding.encode(sorted[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// restore_specials writes the zeros and NaNs of the input, in order, to those of the result.
template <typename Key> DEVICE void restore_specials(const Call &call, const Part *parts, Key *sorted) {
    __shared__ u32 sums[restore_warps];
    __shared__ u64 first_zero, first_nan;
    if (call.plan->lossy == 0)
        return;
    const u64 n = call.count(), begin = block_in_grid() * part_rows(n), end = begin + part_rows(n);
    const u32 thread = thread_in_block(), lower = (1u << lane_in_warp()) - 1;
    // All blocks find equal places: restored values have the keys of those before.
    if (thread == 0)
        first_zero = first_of<Key>(call, sorted, call.encoding.encode((Key)0));
    if (thread == warp_threads)
        first_nan = first_of<Key>(call, sorted, call.encoding.encode((Key)call.encoding.nan));
    u32 zeros = 0, nans = 0, all_zeros, all_nans;
    for (u32 i = thread; i < block_in_grid(); i += restore_threads) {
        zeros += parts[i].zeros;
        nans += parts[i].nans;
    }
    block_fold_before<restore_warps>(warp_fold(zeros, Sum<u32>()), sums, all_zeros, Sum<u32>());
    block_fold_before<restore_warps>(warp_fold(nans, Sum<u32>()), sums, all_nans, Sum<u32>());
    u64 zero = first_zero + all_zeros, nan = first_nan + all_nans;
    const Key *const values = call.key<Key>(input);
    for (u64 from = begin; from < end && from < n; from += restore_threads) {
        const u64 row = from + thread;
        const Key value = row < n ? values[row] : (Key)1;
        const bool is_zero = row < n && call.encoding.is_zero(value), is_nan = row < n && call.encoding.is_nan(value);
        const u32 zero_lanes = ballot(is_zero), nan_lanes = ballot(is_nan);
        // The counts of a step fit 16 bits.
        u32 all;
        const u32 before = block_fold_before<restore_warps>((u32)(__builtin_popcount(zero_lanes) | __builtin_popcount(nan_lanes) << 16), sums, all, Sum<u32>());
        if (is_zero)
            sorted[zero + (before & 0xffff) + __builtin_popcount(zero_lanes & lower)] = value;
        if (is_nan)
            sorted[nan + (before >> 16) + __builtin_popcount(nan_lanes & lower)] = value;
        zero += all & 0xffff;
        nan += all >> 16;
    }
}
