// A kernel that takes strings and lists: take_ranges finds the length of each output row
// and its position in the input, and writes the sums of the lengths before each row, which
// are the output's offsets. Blocks receive the sum of the tiles before theirs by look-back.
#pragma once

#include "lookback.cuh"
#include "rows.cuh"

static constexpr u32 range_items = 8;
static constexpr u32 range_tile = block_threads * range_items;

// ticket_of returns the block's tile. Without a state there is one tile.
DEVICE u32 ticket_of(void *state) {
    __shared__ u32 ticket;
    if (state == nullptr)
        return 0;
    if (thread_in_block() == 0)
        ticket = take_tile(state);
    synchronize_block();
    return ticket;
}

// tiles_before returns the sum of all tiles before one to all threads of its block.
DEVICE u64 tiles_before(void *state, u32 tile, u64 sum) {
    __shared__ u64 before;
    if (state == nullptr)
        return 0;
    if (thread_in_block() < warp_threads) {
        const u64 ahead = before_tile(state, tile, sum, Sum<u64>());
        if (thread_in_block() == 0)
            before = ahead;
    }
    synchronize_block();
    return before;
}

// Capped adds numbers of 32 bits. Sums beyond them become the greatest: offsets of 32 bits
// are less than that.
struct Capped {
    METHOD u32 none() const { return 0; }
    METHOD u32 fold(u32 a, u32 b) const { return a + b < a ? ~0u : a + b; }
};

// Sums is the fold of lengths within a warp.
template <typename T> struct Sums;
template <> struct Sums<i32> {
    typedef u32 Value;
    typedef Capped Fold;
};
template <> struct Sums<i64> {
    typedef u64 Value;
    typedef Sum<u64> Fold;
};

// scan_rows sets before to the sum of the lengths of the warp's rows before each row, and
// ahead to that of the warps before. It returns the sum of all rows of the block. A warp has the
// rows of warp_of.
template <u32 items, typename T, typename Value> DEVICE u64 scan_rows(const T (&length)[items], Value (&before)[items], u64 &ahead) {
    static __shared__ u64 sums[block_threads / warp_threads];
    const typename Sums<T>::Fold fold;
    Value sum = 0;
    u64 own = 0, all;
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const Value scanned = warp_scan((Value)length[k], fold);
        before[k] = fold.fold(sum, before_lane(scanned, fold));
        sum = fold.fold(sum, shuffle_value(scanned, warp_threads - 1));
        own += (u64)length[k];
    }
    ahead = block_fold_before<block_threads / warp_threads>(warp_fold(own, Sum<u64>()), sums, all, Sum<u64>());
    return all;
}

// unsound_offsets marks a row with unsound offsets in the word for indices out of
// bounds. It compares greater than all of those.
static constexpr u64 unsound_offsets = 1ull << 63;

// take_ranges writes capacity + 1 offsets and the positions at which the rows begin in
// the data of the input, and the sum of all lengths to total. Rows beyond the count have
// length 0, and those with offsets that are not in order or point beyond the extent of the
// data are reported and get length 0. No offset exceeds most, so the offsets stay sound
// even if the input's are not and the lengths add up to more than the input has.
template <typename T>
DEVICE void take_ranges(T *out, T *begins, u32 *out_valid, const T *__restrict__ offsets, const u8 *__restrict__ valid, u64 valid_at,
                        u64 *total, void *state, u64 extent, u64 most, const Any &source) {
    constexpr u32 items = range_items;
    const u64 capacity = source.capacity;
    const u32 tile = ticket_of(state);
    const Warp<items> warp = warp_of<items>(tile);
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
    typename Sums<T>::Value before[items];
    u64 warps;
    const u64 all = scan_rows(length, before, warps), ahead = tiles_before(state, tile, all);
#pragma unroll
    for (u32 k = 0; k < items; k++) {
        const u64 i = first + k * warp_threads, offset = ahead + warps + before[k];
        if (i <= capacity)
            out[i] = offset < most ? offset : most;
        if (i < capacity)
            begins[i] = begin[k];
    }
    if (out_valid != nullptr && warp.first < capacity)
        write_bits<items>(out_valid, warp, capacity, ok);
    if (thread_in_block() == 0 && tile == capacity / range_tile)
        *total = ahead + all;
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
                            u64 *total, void *state, u64 extent, u64 most, ANY_SOURCE) {                               \
        take_ranges(out, begins, out_valid, offsets, valid, valid_at, total, state, extent, most, any(GIVEN_ANY));     \
    }
