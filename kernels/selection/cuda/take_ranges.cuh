// Kernels that take strings and lists. The first kernel, take_ranges, finds the length
// of each output row and its position in the input; the sums of the lengths are the
// output's offsets. If one block handles all rows it also computes the sums. Otherwise
// the second kernel adds up the blocks' sums and the third kernel adds up the lengths
// within each block.
#pragma once

#include "rows.cuh"

static constexpr u32 range_items = 8;
static constexpr u32 range_tile = block_threads * range_items;

// add_before returns the sum of the values of the threads before this one, and sets
// total to the sum of all. The shared memory may be reused immediately.
DEVICE i64 add_before(i64 value, i64 &total) {
    static __shared__ u64 sums[block_threads / warp_threads];
    const u64 scanned = warp_scan((u64)value, Sum<u64>());
    u64 all;
    const u64 before = block_fold_before<block_threads / warp_threads>(shuffle_value(scanned, warp_threads - 1), sums, all, Sum<u64>());
    total = all;
    return before + scanned - value;
}

// add_up turns count lengths of a tile into offsets that start at base, and returns
// their sum. No offset exceeds most, so the offsets stay sound even if the input's are
// not and the lengths add up to more than the input has.
template <typename T> DEVICE i64 add_up(T *lengths, u64 count, i64 base, i64 most) {
    const u32 at = thread_in_block() * range_items;
    T length[range_items];
    i64 sum = 0, total;
#pragma unroll
    for (u32 k = 0; k < range_items; k++) {
        length[k] = at + k < count ? lengths[at + k] : 0;
        sum += length[k];
    }
    i64 offset = base + add_before(sum, total);
#pragma unroll
    for (u32 k = 0; k < range_items; k++) {
        if (at + k < count)
            lengths[at + k] = offset < most ? offset : most;
        offset += length[k];
    }
    return total;
}

// unsound_offsets marks a row with unsound offsets in the word for indices out of
// bounds. It compares greater than all of those.
static constexpr u64 unsound_offsets = 1ull << 63;

// take_ranges writes capacity + 1 lengths and the positions at which the rows begin in
// the data of the input. The last length and those of rows beyond the count are 0. Rows
// with offsets that are not in order or point beyond the extent of the data are
// reported and get length 0.
template <typename T>
DEVICE void take_ranges(T *out, T *begins, u32 *out_valid, const T *__restrict__ offsets, const u8 *__restrict__ valid, u64 valid_at,
                        i64 *sums, u64 extent, i64 most, const Any &source) {
    constexpr u32 items = range_items;
    const u64 capacity = source.capacity;
    const Warp<items> warp = warp_of<items>();
    const u64 first = warp.first + warp.lane;
    T begin[items], length[items];
    bool ok[items];
#pragma unroll
    for (u32 k = 0; k < items; k++)
        begin[k] = 0, length[k] = 0, ok[k] = false;
    if (warp.first < source.n) {
        u64 index[items];
        read<items>(source, warp.first, warp.lane, warp_threads, index, ok);
        if (source.limit != 0) { // without rows nothing can be loaded
            read_valid<items>(valid, valid_at, index, ok);
            T end[items];
#pragma unroll
            for (u32 k = 0; k < items; k++)
                begin[k] = offsets[index[k]], end[k] = offsets[index[k] + 1];
            u32 unsound = items;
#pragma unroll
            for (u32 k = items; k-- > 0;) {
                const u64 from = (u64)(i64)begin[k], to = (u64)(i64)end[k];
                const bool sound = from <= to && to <= extent;
                length[k] = ok[k] && sound ? end[k] - begin[k] : 0;
                unsound = ok[k] && !sound ? k : unsound;
            }
            if (unsound < items && source.bad != nullptr)
                __nvvm_atom_min_gen_ull(source.bad, first + unsound * warp_threads | unsound_offsets);
        }
    }
    i64 sum = 0, total;
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u64 i = first + k * warp_threads;
        if (i <= capacity)
            out[i] = length[k];
        if (i < capacity)
            begins[i] = begin[k];
        sum += length[k];
    }
    if (out_valid != nullptr && warp.first < capacity)
        write_bits<items>(out_valid, warp, capacity, ok);
    if (blocks_per_grid() == 1) {
        synchronize_block();
        total = add_up(out, capacity + 1, 0, most);
    } else
        add_before(sum, total);
    if (thread_in_block() == 0)
        sums[block_in_grid()] = total;
}

// add_sums turns the sums of count blocks into the sum before each block, and writes
// the total after them. One block.
template <int> DEVICE void add_sums(i64 *sums, u64 count) {
    i64 ahead = 0;
    for (u64 first = 0; first < count; first += range_tile)
        ahead += add_up(sums + first, count - first, ahead, ~(1ll << 63));
    if (thread_in_block() == 0)
        sums[count] = ahead;
}

// add_ranges is the third kernel.
template <typename T> DEVICE void add_ranges(T *lengths, u64 count, const i64 *sums, i64 most) {
    const u64 first = (u64)block_in_grid() * range_tile;
    add_up(lengths + first, count - first, sums[block_in_grid()], most);
}

// place_of returns the index, from low to high, of the last offset that is not beyond a
// position; the offset at high is beyond it. So empty rows are skipped.
template <typename T> DEVICE u64 place_of(const T *offsets, u64 low, u64 high, u64 position) {
    while (high - low > 1) {
        const u64 middle = low + (high - low) / 2;
        if ((u64)offsets[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Span is a block's part of the bytes or elements that the offsets of rows delimit.
struct Span {
    u64 first, last, total; // of the bytes or elements
    u64 low, high;          // the rows of the first and of the last one
};

// span_of finds the block's tile of the output, which has at most most bytes or
// elements. It returns false if the output ends before the tile.
template <u32 tile, typename T> DEVICE bool span_of(const T *offsets, u64 rows, u64 most, Span &span) {
    static __shared__ u64 between[2];
    span.total = offsets[rows];
    if (span.total > most)
        span.total = most;
    span.first = (u64)block_in_grid() * tile;
    if (span.first >= span.total)
        return false;
    span.last = (span.first + tile < span.total ? span.first + tile : span.total) - 1;
    if (thread_in_block() < 2)
        between[thread_in_block()] = place_of(offsets, 0, rows, thread_in_block() == 0 ? span.first : span.last);
    synchronize_block();
    span.low = between[0], span.high = between[1];
    return true;
}

#define TAKE_RANGES(width, T)                                                                                          \
    KERNEL LAUNCH_BOUNDS(block_threads)                                                                                \
        take_ranges_##width(T *out, T *begins, u32 *out_valid, const T *offsets, const u8 *valid, u64 valid_at,        \
                            i64 *sums, u64 extent, i64 most, ANY_SOURCE) {                                             \
        take_ranges(out, begins, out_valid, offsets, valid, valid_at, sums, extent, most, any(GIVEN_ANY));             \
    }                                                                                                                  \
    KERNEL LAUNCH_BOUNDS(block_threads) add_ranges_##width(T *lengths, u64 count, const i64 *sums, i64 most) {         \
        add_ranges(lengths, count, sums, most);                                                                        \
    }
