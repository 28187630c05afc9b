// What lies before a tile, in one pass over all tiles.
//
// A kernel cuts its input into tiles. Each tile publishes the fold of its own
// values and gets that of everything before it:
//
//     __shared__ u32 tile;
//     if (thread_in_block() == 0)
//         tile = take_tile(state);                    // tiles in the order of starting
//     synchronize_block();
//     …fold the tile's values…
//     if (thread_in_block() < warp_threads)           // the first warp, all 32 lanes
//         before = before_tile(state, tile, sum, Sum<u64>());
//
// It is what others call decoupled look-back (Merrill and Garland 2016), but with
// a fixed shape: 32 tiles make a group, 32 groups a span. The last tile of a group
// publishes the group's fold, the last of a span the fold of all up to there. A
// tile reads the tiles ahead of it in its group, the groups ahead of it in its
// span and the span ahead, each in one step of the warp, and folds
//
//     ((spans ahead, groups ahead), tiles ahead)
//
// each of the latter two lists as warp_fold does, what is absent being none. So the order
// depends on nothing but the tile's number, float sums are the same in every run,
// and no tile reads more than three times however many are under way.
//
// # Memory
//
// state is 128-byte aligned and as long as internal/lookback.Bytes says:
// 128 bytes, the first four of which are the ticket counter, and for each span of
// 1,024 tiles 1,088 values of the size of a published one. Every byte is zero when
// the kernel starts: the launch is preceded by a memset. (State that is kept
// between launches with a number for each of them would save that, but would be
// memory nobody counts, and would break when a graph replays the launch.)
//
// A published value is a row of 64-bit words, each with 32 bits of the value and
// 32 bits that say that it is there. A word is written and read whole, so no
// fences are needed for any size, and 16-byte accesses need not be atomic.
//
// # Progress
//
// Tiles are handed out in the order in which blocks ask, so whatever a tile waits
// for belongs to a block that runs already. A block must finish its tile before it
// waits for another one.
#pragma once

#include "scan.cuh"

static constexpr u32 lookback_header = 128, lookback_group = 32, lookback_span = 1024, lookback_stride = 1088;

// global_address returns an address as the instructions for global memory take it.
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

// Published is how a value lies in the state. Addresses are global ones.
template <typename T> struct Published {
    // An even number of words above one, for they are written in pairs.
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

    // there reports whether all of the value was there when it was read.
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

// Awaited is what a lane waits for, if it wants it. It reads in any case, so that
// no branch stands between one read and the next.
template <typename T> struct Awaited {
    u64 address;
    bool wanted;
    Published<T> published;

    METHOD Awaited(u64 address, bool wanted) : address(address), wanted(wanted) { published.read(address); }

    // wait returns when all lanes of the warp have theirs. Only those that do not ask
    // again, and not at once: hundreds of warps ask for the same few lines. (On an H200
    // a scan of 2²⁷ float64 took 694 µs without, 669 with.)
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
// before it, to every lane. The whole warp calls it, with the same arguments in all
// lanes. marked says something of the tile, and afterwards whether it was true of
// any tile before: it travels in words that are moved anyway.
template <typename T, typename Fold> DEVICE T before_tile(void *state, u32 tile, const T &sum, bool &marked, Fold f) {
    constexpr u32 bytes = Published<T>::bytes;
    const u32 lane = lane_in_warp();
    const u32 in_group = tile % lookback_group, group = tile / lookback_group % lookback_group, span = tile / lookback_span;
    const u64 tiles = global_address(state) + lookback_header + (u64)span * (lookback_stride * bytes);
    const u64 groups = tiles + lookback_span * bytes;
    const u64 spans = groups + lookback_group * bytes; // the fold of all up to the end of this one

    bool mark = marked;
    if (lane == 0)
        Published<T>::write(tiles + tile % lookback_span * bytes, sum, mark);

    // All three are asked for before the first is waited for, and what others wait
    // for is published as soon as it is known.
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
