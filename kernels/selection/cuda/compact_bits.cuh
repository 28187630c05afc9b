// Keeps rows of bitmaps.
#pragma once

#include "compact.cuh"

// Bitmaps are the bitmaps of one launch: row y of the grid handles bitmap y.
static constexpr u32 bitmaps_most = 16;

struct Bitmaps {
    struct {
        const u8 *source;
        u64 bit; // number of the first row's bit in the first byte
        u32 *out;
    } bitmap[bitmaps_most];
};

// compact_bits keeps bits. The caller zeroes the output, because two segments that
// share a word both set bits in it.
KERNEL LAUNCH_BOUNDS(compact_threads) compact_bits(Mask mask, Where where, Bitmaps bitmaps) {
    __shared__ u32 shared[compact_warps][segment_words + 1];
    const u64 n = rows_of(mask.rows, mask.capacity);
    const u32 warp = thread_in_block() / warp_threads, lane = lane_in_warp();
    const u64 segment = (u64)block_in_grid() * compact_warps + warp, begin = segment * segment_rows;
    if (begin >= n)
        return;
    const u32 limit = n - begin < segment_rows ? n - begin : segment_rows;
    const auto &bitmap = bitmaps.bitmap[__nvvm_read_ptx_sreg_ctaid_y()];

    const u32 word = segment_keep_bits(mask, begin, limit);
    const Mask source = {bitmap.source, bitmap.bit, nullptr, 0, nullptr, mask.capacity};
    const u32 bits = segment_keep_bits(source, begin, limit);
    const u32 count = __builtin_popcount(word), scanned = warp_scan(count, Sum<u32>());
    const u32 total = shuffle_value(scanned, warp_threads - 1);
    if (total == 0)
        return;
    const u64 to = begin_of(where, segment);
    const u32 first = to & 31, ahead = first + scanned - count;
    u32 *collected = shared[warp];
    if (lane <= segment_words)
        collected[lane] = 0;
    __nvvm_bar_warp_sync(whole_warp);
    const u64 moved = (u64)extract_bits(bits, word) << (ahead & 31);
    const u32 at = ahead >> 5;
    if ((u32)moved != 0)
        or_word(&collected[at], (u32)moved);
    if (moved >> 32 != 0)
        or_word(&collected[at + 1], moved >> 32);
    __nvvm_bar_warp_sync(whole_warp);
    const u32 end = first + total;
    if (32 * lane < end) {
        u32 *out = global_of(bitmap.out) + (to >> 5) + lane;
        if (lane == 0 && first != 0 || 32 * lane + 32 > end)
            or_word(out, collected[lane]);
        else
            *out = collected[lane];
    }
}
