// Quantiles of frames in shared memory.
//
// A block sorts the values of its places, those that the frames of its rows reach included,
// and arranges their ranks as a wavelet matrix (Claude, Navarro and Ordóñez, "The wavelet
// matrix", 2015): for each bit of a rank, from the highest on, the bits of all places; after
// each bit the places with 0 move before those with 1 and keep their order. The k-th
// value of any frame is then found by a count of zeros at both ends of the frame for each
// bit: 22 counts for 2,048 places, whatever the length of the frame.
#pragma once

#include "over.cuh"

static constexpr u32 quantile_threads = 512, quantile_rows = 2048, quantile_loads = quantile_rows / quantile_threads;
static constexpr u32 quantile_bits = 11, quantile_words = quantile_rows / 32;

// No value has this key: NaN, the greatest, is below.
static constexpr u64 no_key = ~0ull;

// BitWord is 32 bits of a row, with the number of zeros before them.
struct alignas(8) BitWord {
    u32 bits, before;
};

// BitRow is a row of bits.
struct BitRow {
    BitWord words[quantile_words + 1];

    // zeros returns the number of zeros before a place.
    METHOD u32 zeros(u32 place) const {
        const BitWord word = words[place / 32];
        const u32 inside = place % 32;
        return word.before + inside - (u32)__builtin_popcount(word.bits & (1u << inside) - 1);
    }

    // count counts the zeros before some words. The first warp runs it.
    METHOD void count(u32 number) {
        const u32 lane = lane_in_warp();
        u32 before = 0;
#pragma unroll 1
        for (u32 begin = 0; begin < number; begin += warp_threads) {
            const u32 at = begin + lane, own = at < number ? 32 - (u32)__builtin_popcount(words[at].bits) : 0;
            u32 sum = own;
#pragma unroll
            for (u32 delta = 1; delta < warp_threads; delta *= 2) {
                const u32 other = shuffle_value_up(sum, delta);
                sum += lane >= delta ? other : 0;
            }
            if (at < number)
                words[at].before = before + sum - own;
            before += shuffle_value(sum, warp_threads - 1);
        }
        if (lane == 0)
            words[number] = BitWord{0, before};
    }
};

// Placed is a key with its place.
struct Placed {
    u64 key;
    u32 place;
};

// A thread sorts quantile_loads consecutive keys, and a warp warp_keys.
static constexpr u32 warp_keys = warp_threads * quantile_loads;

// sort_warp sorts the keys of a warp in a bitonic network (Batcher 1968). Equal keys may get
// any order: ranks of equal values are exchangeable.
DEVICE void sort_warp(Placed (&x)[quantile_loads]) {
    const u32 first = lane_in_warp() * quantile_loads;
#pragma unroll 1
    for (u32 run = 2; run <= warp_keys; run *= 2) {
#pragma unroll 1
        for (u32 stride = run / 2; stride >= quantile_loads; stride /= 2) {
            const bool least = ((first & run) == 0) == ((first & stride) == 0);
            const u32 from = lane_in_warp() ^ stride / quantile_loads;
#pragma unroll
            for (u32 i = 0; i < quantile_loads; i++) {
                const u64 key = shuffle_value(x[i].key, from);
                const u32 place = shuffle_value(x[i].place, from);
                if (key != x[i].key && key < x[i].key == least)
                    x[i] = Placed{key, place};
            }
        }
#pragma unroll
        for (u32 stride = quantile_loads / 2; stride > 0; stride /= 2) {
            if (stride >= run)
                continue;
#pragma unroll
            for (u32 i = 0; i < quantile_loads; i++) {
                if ((i & stride) != 0)
                    continue;
                const Placed low = x[i], high = x[i + stride];
                if (low.key != high.key && low.key > high.key == ((first + i & run) == 0)) {
                    x[i] = high;
                    x[i + stride] = low;
                }
            }
        }
    }
}

// Ranked are the places of a block. keys are sorted; bit_rows has a row for each bit of a
// rank, the highest first, and absent those places without a value.
struct Ranked {
    u64 keys[quantile_rows];
    u16 ranks[2][quantile_rows];
    BitRow bit_rows[quantile_bits], absent;

    // sort sorts the keys, and the places of ranks[0] by them. Warps sort theirs, and runs are
    // merged: a thread finds by a binary search where its keys of the result begin in both
    // (Green, McColl and Bader, "GPU merge path", 2012).
    METHOD void sort(u32 size) {
        const u32 begin = thread_in_block() * quantile_loads;
        u16 *const places = ranks[0];
        Placed x[quantile_loads];
#pragma unroll
        for (u32 i = 0; i < quantile_loads; i++)
            x[i] = begin + i < size ? Placed{keys[begin + i], places[begin + i]} : Placed{no_key, 0};
        sort_warp(x);
        store(x, begin, size);
#pragma unroll 1
        for (u32 run = warp_keys; run < size; run *= 2) {
            if (begin < size) {
                const u32 base = begin & ~(2 * run - 1), before = begin - base;
                const u64 *const a = keys + base, *const b = a + run;
                u32 low = before > run ? before - run : 0, high = before < run ? before : run;
                while (low < high) {
                    const u32 middle = (low + high) / 2;
                    if (a[middle] <= b[before - 1 - middle])
                        low = middle + 1;
                    else
                        high = middle;
                }
                u32 i = low, j = before - low;
#pragma unroll
                for (u32 k = 0; k < quantile_loads; k++) {
                    const bool first = j >= run || i < run && a[i] <= b[j];
                    const u32 at = base + (first ? i : run + j);
                    x[k] = Placed{keys[at], places[at]};
                    i += first ? 1 : 0;
                    j += first ? 0 : 1;
                }
            }
            synchronize_block();
            store(x, begin, size);
        }
    }

    // store stores the keys of the calling thread.
    METHOD void store(const Placed (&x)[quantile_loads], u32 begin, u32 size) {
#pragma unroll
        for (u32 i = 0; i < quantile_loads; i++)
            if (begin + i < size) {
                keys[begin + i] = x[i].key;
                ranks[0][begin + i] = (u16)x[i].place;
            }
        synchronize_block();
    }

    // arrange makes the wavelet matrix of the ranks, of the places that sort has left in
    // ranks[0].
    METHOD void arrange(u32 size, u32 bits) {
        const u32 thread = thread_in_block(), words = (size + 31) / 32;
#pragma unroll 1
        for (u32 at = thread; at < size; at += quantile_threads)
            ranks[1][ranks[0][at]] = (u16)at;
        synchronize_block();
        u32 from = 1;
#pragma unroll 1
        for (u32 i = 0; i < bits; i++) {
            BitRow &row = bit_rows[i];
            const u32 bit = bits - 1 - i;
            // All lanes of a warp take part in a vote, those behind the end with a 1.
#pragma unroll 1
            for (u32 at = thread; at < 32 * words; at += quantile_threads) {
                const u32 word = ballot(at >= size || (ranks[from][at] >> bit & 1) != 0);
                if (at % 32 == 0)
                    row.words[at / 32].bits = word;
            }
            synchronize_block();
            if (thread < warp_threads)
                row.count(words);
            synchronize_block();
            const u32 zeros = row.words[words].before;
#pragma unroll 1
            for (u32 at = thread; at < size; at += quantile_threads) {
                const u16 rank = ranks[from][at];
                const u32 before = row.zeros(at);
                ranks[1 - from][(rank >> bit & 1) == 0 ? before : zeros + at - before] = rank;
            }
            from = 1 - from;
            synchronize_block();
        }
    }

    // find returns the key of the k-th value of the places [begin, end), counted from 0, and if
    // there is a value behind it, its key in next. Both take one path up to the bit in which
    // their ranks differ.
    METHOD u64 find(u32 begin, u32 end, u32 k, bool both, u32 size, u32 bits, u64 &next) const {
        const u32 words = (size + 31) / 32;
        u32 rank = 0, next_rank = 0, next_begin = 0, next_end = 0;
        bool apart = false;
#pragma unroll 1
        for (u32 i = 0; i < bits; i++) {
            const BitRow &row = bit_rows[i];
            const u32 zeros = row.words[words].before;
            if (apart) { // the first value of the places
                const u32 low = row.zeros(next_begin), high = row.zeros(next_end);
                const bool one = low == high;
                next_begin = one ? next_begin + zeros - low : low;
                next_end = one ? next_end + zeros - high : high;
                next_rank = 2 * next_rank + (one ? 1 : 0);
            }
            const u32 low = row.zeros(begin), high = row.zeros(end), count = high - low;
            const u32 one_begin = begin + zeros - low, one_end = end + zeros - high;
            if (both && !apart && k + 1 == count) {
                apart = true;
                next_begin = one_begin;
                next_end = one_end;
                next_rank = 2 * rank + 1;
            }
            const bool one = k >= count;
            begin = one ? one_begin : low;
            end = one ? one_end : high;
            k -= one ? count : 0;
            rank = 2 * rank + (one ? 1 : 0);
        }
        next = keys[apart ? next_rank : rank];
        return keys[rank];
    }
};
