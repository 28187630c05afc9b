// The fold of everything before a tile, in one pass over all tiles.
//
// A kernel divides its input into tiles. Each tile publishes the fold of its values and
// receives the fold of all tiles before it:
//
//     __shared__ u32 tile;
//     if (thread_in_block() == 0)
//         tile = take_tile(state);                    // tiles in the order of starting
//     synchronize_block();
//     …fold the tile's values…
//     if (thread_in_block() < warp_threads)           // the first warp, all 32 lanes
//         before = before_tile(state, tile, sum, Sum<u64>());
//
// The algorithm is decoupled look-back (Merrill and Garland 2016) with a fixed shape:
// 32 tiles make a group, 32 groups a span. The last tile of a group publishes the
// group's fold, the last tile of a span the fold of everything up to its end. A tile
// reads the earlier tiles of its group, the earlier groups of its span and the previous
// span, each in one step of the warp, and folds
//
//     ((spans before, groups before), tiles before)
//
// Each of the latter two lists is folded as warp_fold does; absent values are none. The
// order therefore depends only on the tile's number: float sums are the same in every
// run, and a tile needs at most three reads, regardless of the number of tiles in
// progress.
//
// # Memory
//
// state is 128-byte aligned and has the length of internal/op/lookback.Bytes: 128 bytes,
// the first four of which are the ticket counter, and for each span of 1,024 tiles
// 1,088 values of the size of a published one. Every byte is zero when the kernel
// starts: a memset precedes the launch. (State kept between launches, with a number for
// each launch, would save the memset. It would also be memory outside any budget, and
// would fail when a graph replays the launch.)
//
// A published value is a row of 64-bit words, each with 32 bits of the value and 32
// bits of flag. A word is written and read whole, so no size needs fences, and 16-byte
// accesses need not be atomic.
//
// # Progress
//
// Blocks take tiles in the order in which they start, so a tile only waits for blocks
// that already run. A block must finish its tile before it waits for another one.
#pragma once

#include "scan.cuh"

static constexpr u32 lookback_header = 128, lookback_group = 32, lookback_span = 1024, lookback_stride = 1088;

// global_address converts an address for instructions on global memory.
DEVICE u64 global_address(const void *address) {
    u64 global;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(global) : "l"(address));
    return global;
}

// take_tile returns the next tile's number. One thread of a block calls it.
DEVICE u32 take_tile(void *state) {
    u32 tile;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(tile) : "l"(global_address(state)) : "memory");
    return tile;
}

// Published is the layout of a value in the state. Addresses are global ones.
template <typename T> struct Published {
    // An even number of words above one, because they are written in pairs.
    static constexpr int words = Words<T>::count == 1 ? 1 : (Words<T>::count + 1) / 2 * 2;
    static constexpr u32 bytes = 8 * words;

    u64 word[words];

    // write makes the value and the mark visible to the device.
    METHOD static void write(u64 address, const T &value, bool mark) {
        const Words<T> w = Words<T>::of(value);
        const u64 there = (u64)(mark ? 3 : 1) << 32;
        if constexpr (words == 1)
            asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(there | w.word[0]) : "memory");
        else {
#pragma unroll
            for (int i = 0; i < words; i += 2) {
                const u64 low = there | w.word[i], high = there | (i + 1 < Words<T>::count ? w.word[i + 1] : 0);
                asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(address + 8 * i), "l"(low), "l"(high) : "memory");
            }
        }
    }

    METHOD void read(u64 address) {
        if constexpr (words == 1)
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word[0]) : "l"(address) : "memory");
        else {
#pragma unroll
            for (int i = 0; i < words; i += 2)
                asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(word[i]), "=l"(word[i + 1]) : "l"(address + 8 * i) : "memory");
        }
    }

    // there reports whether the whole value was published when it was read.
    METHOD bool there() const {
        u64 all = word[0];
#pragma unroll
        for (int i = 1; i < words; i++)
            all &= word[i];
        return (all >> 32 & 1) != 0;
    }

    METHOD bool mark() const { return (word[0] >> 33 & 1) != 0; }

    METHOD T value() const {
        Words<T> w;
#pragma unroll
        for (int i = 0; i < Words<T>::count; i++)
            w.word[i] = (u32)word[i];
        return w.value();
    }
};

// Awaited is a value for which a lane may wait. Every lane reads, waiting or not, so
// that no branch separates one read from the next.
template <typename T> struct Awaited {
    u64 address;
    bool wanted;
    Published<T> published;

    METHOD Awaited(u64 address, bool wanted) : address(address), wanted(wanted) { published.read(address); }

    // wait returns when all lanes of the warp have their values. Only lanes without a
    // value read again, and after a pause, because hundreds of warps read the same few
    // lines. (On an H200 a scan of 2²⁷ float64 took 694 µs without the pause, 669 with
    // it.)
    METHOD void wait() {
        while (ballot(wanted && !published.there()) != 0) {
            __nvvm_nanosleep(40);
            if (wanted && !published.there())
                published.read(address);
        }
    }
    METHOD T value(const T &none) const { return wanted ? published.value() : none; }
    METHOD bool mark() const { return wanted && published.mark(); }
};

// before_tile publishes the fold of a tile's values and returns that of all tiles
// before it to every lane. The whole warp calls it, with the same arguments in all
// lanes. marked is a flag of the tile, and on return whether any tile before had it: it
// travels in words that are moved anyway.
template <typename T, typename Fold> DEVICE T before_tile(void *state, u32 tile, const T &sum, bool &marked, Fold f) {
    constexpr u32 bytes = Published<T>::bytes;
    const u32 lane = lane_in_warp();
    const u32 in_group = tile % lookback_group, group = tile / lookback_group % lookback_group, span = tile / lookback_span;
    const u64 tiles = global_address(state) + lookback_header + (u64)span * (lookback_stride * bytes);
    const u64 groups = tiles + lookback_span * bytes;
    const u64 spans = groups + lookback_group * bytes; // the fold of everything up to the end of this span

    bool mark = marked;
    if (lane == 0)
        Published<T>::write(tiles + tile % lookback_span * bytes, sum, mark);

    // All three reads are issued before the first wait, and each value for which others
    // wait is published as soon as it is known.
    Awaited<T> tile_ahead(tiles + (group * lookback_group + lane) * bytes, lane < in_group);
    Awaited<T> group_ahead(groups + lane * bytes, lane < group);
    Awaited<T> span_ahead(spans - (span > 0 ? lookback_stride * bytes : 0), span > 0);

    tile_ahead.wait();
    const T in_this_group = warp_fold(tile_ahead.value(f.none()), f);
    marked = ballot(tile_ahead.mark()) != 0;
    mark |= marked;
    const T whole_group = f.fold(in_this_group, sum);
    if (lane == 0 && in_group == lookback_group - 1)
        Published<T>::write(groups + group * bytes, whole_group, mark);

    group_ahead.wait();
    const T in_this_span = warp_fold(group_ahead.value(f.none()), f);
    span_ahead.wait();
    const T before_group = f.fold(span_ahead.value(f.none()), in_this_span);
    const bool earlier = ballot(group_ahead.mark() || span_ahead.mark()) != 0;
    marked |= earlier;
    mark |= earlier;
    if (lane == 0 && tile % lookback_span == lookback_span - 1)
        Published<T>::write(spans, f.fold(before_group, whole_group), mark);
    return f.fold(before_group, in_this_group);
}

template <typename T, typename Fold> DEVICE T before_tile(void *state, u32 tile, const T &sum, Fold f) {
    bool marked = false;
    return before_tile(state, tile, sum, marked, f);
}
