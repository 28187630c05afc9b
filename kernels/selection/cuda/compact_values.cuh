// Keeps rows of values of any width.
#pragma once

#include "compact.cuh"

// Columns are the columns of one launch: row y of the grid handles column y.
static constexpr u32 columns_most = 16;

struct Columns {
    struct {
        const u8 *source; // null to write the row numbers
        u8 *out;
        u64 units; // number of Ts per row
    } column[columns_most];
};

// copy_kept copies the kept rows of a segment, units Ts per row. It loads four rows
// before it stores the first.
template <typename T> DEVICE void copy_kept(const T *from, T *out, const u32 *words, u32 units) {
    constexpr u32 batch = 4;
    const u32 lane = lane_in_warp(), own = 1u << lane;
#pragma nounroll
    for (u32 i = 0; i < segment_words; i += batch) {
        const u32 keep[batch] = {words[i], words[i + 1], words[i + 2], words[i + 3]};
#pragma nounroll
        for (u32 unit = 0; unit < units; unit++) {
            T value[batch] = {};
            T *to = out + unit;
#pragma unroll
            for (u32 j = 0; j < batch; j++)
                if (keep[j] & own)
                    value[j] = from[(u64)(32 * (i + j) + lane) * units + unit];
#pragma unroll
            for (u32 j = 0; j < batch; j++) {
                if (keep[j] & own)
                    to[(u64)__builtin_popcount(keep[j] & (own - 1)) * units] = value[j];
                to += (u64)__builtin_popcount(keep[j]) * units;
            }
        }
#pragma unroll
        for (u32 j = 0; j < batch; j++)
            out += (u64)__builtin_popcount(keep[j]) * units;
    }
}

// sparse_most is the number of rows up to which a segment that keeps so few is not read whole.
static constexpr u32 sparse_most = segment_rows / 8;

// copy_few copies the rows that a segment keeps, at most sparse_most. It reads no others.
template <typename T> DEVICE void copy_few(const T *from, T *out, const u32 *words, u32 kept) {
    __shared__ u16 lists[compact_warps][sparse_most];
    u16 *list = lists[thread_in_block() / warp_threads];
    each_kept(words, [=](u32 row, u32 place) { list[place] = row; });
    __nvvm_bar_warp_sync(whole_warp);
#pragma unroll
    for (u32 i = 0; i < sparse_most; i += warp_threads)
        if (i + lane_in_warp() < kept)
            out[i + lane_in_warp()] = from[list[i + lane_in_warp()]];
}

// compact_values keeps rows of columns of values. T is the widest unit that divides the
// width and the addresses.
template <typename T> DEVICE void compact_values(const Mask &mask, const Where &where, const Columns &columns) {
    __shared__ Shared shared;
    const u64 n = rows_of(mask.rows, mask.capacity);
    const u64 segment = (u64)block_in_grid() * compact_warps + thread_in_block() / warp_threads;
    const u64 begin = segment * segment_rows;
    if (begin >= n)
        return;
    const u32 limit = n - begin < segment_rows ? n - begin : segment_rows;
    const auto &column = columns.column[__nvvm_read_ptx_sreg_ctaid_y()];
    const u32 units = column.units;
    const bool numbers = column.source == nullptr, whole = limit == segment_rows && units == 1 && !numbers;
    const T *from = (const T *)global_of(column.source) + begin * units;

    const u32 word = segment_keep_bits(mask, begin, limit), kept = warp_fold((u32)__builtin_popcount(word), Sum<u32>());
    const u32 *words = share(shared, word);
    T *to = (T *)global_of(column.out) + begin_of(where, segment) * units;
    if (whole && kept <= sparse_most) {
        copy_few(from, to, words, kept);
    } else if (whole) {
        T value[segment_words];
        load_segment(value, from);
        store_kept(value, to, words);
    } else if (!numbers)
        copy_kept(from, to, words, units);
    else if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
        each_kept(words, [=](u32 row, u32 place) { to[place] = begin + row; });
}

// Two words move in one instruction, and take twice the registers of one.
typedef u64 Words16 __attribute__((ext_vector_type(2)));
#define WIDE_BOUNDS __attribute__((launch_bounds(compact_threads, 2)))

#define COMPACT(width, T, BOUNDS)                                                                                      \
    KERNEL BOUNDS compact_##width(Mask mask, Where where, Columns columns) { compact_values<T>(mask, where, columns); }
