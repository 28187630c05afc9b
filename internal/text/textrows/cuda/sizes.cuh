// The lengths of the rows of a result, and sums over the rows of a block.
#pragma once
#include "scan.cuh"
#include "text.cuh"

static constexpr u32 block_threads = 256, items = 4, tile = block_threads * items;

// add_before returns the sum of the values of the threads before this one, and sets total
// to the sum of all.
DEVICE u64 add_before(u64 value, u64 &total) {
    static __shared__ u64 sums[block_threads / warp_threads];
    const u64 scanned = warp_scan(value, Sum<u64>());
    const u64 before = block_fold_before<block_threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), sums, total, Sum<u64>());
    return before + scanned - value;
}

// write_sizes writes the lengths of the rows, 0 for nulls and for rows beyond the count,
// the sum of each block, and the bitmap of the rows that are not null.
template <typename Size>
DEVICE void write_sizes(u64 *lengths, u64 *sums, u32 *out_valid, const u32 *valid, const i64 *rows, u64 capacity, Size size) {
    const u64 n = rows != nullptr && (u64)*rows < capacity ? (u64)*rows : capacity;
    u64 sum = 0, total;
#pragma nounroll
    for (u32 k = 0; k < items; k++) {
        const u64 row = (u64)block_in_grid() * tile + k * block_threads + thread_in_block();
        const bool ok = row < n && (valid == nullptr || valid[row / 32] >> row % 32 & 1);
        const u64 length = ok ? size(row) : 0;
        const u32 word = ballot(ok);
        if (out_valid != nullptr && lane_in_warp() == 0 && row < capacity)
            out_valid[row / 32] = word;
        if (row < capacity)
            lengths[row] = length;
        sum += length;
    }
    add_before(sum, total);
    if (thread_in_block() == 0)
        sums[block_in_grid()] = total;
}
