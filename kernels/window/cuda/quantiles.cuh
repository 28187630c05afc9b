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

// BitRow is a row of bits, with the number of zeros before each word.
struct BitRow {
    u32 bits[quantile_words];
    u32 zeros_before[quantile_words + 1];

    // zeros returns the number of zeros before a place.
    METHOD u32 zeros(u32 place) const {
        const u32 word = place / 32, inside = place % 32;
        const u32 before = zeros_before[word];
        return inside == 0 ? before : before + inside - (u32)__builtin_popcount(bits[word] & (1u << inside) - 1);
    }

    // count sets zeros_before for some words. The first warp runs it.
    METHOD void count(u32 words) {
        const u32 lane = lane_in_warp();
        u32 before = 0;
#pragma unroll 1
        for (u32 begin = 0; begin < words; begin += warp_threads) {
            const u32 at = begin + lane, own = at < words ? 32 - (u32)__builtin_popcount(bits[at]) : 0;
            u32 sum = own;
#pragma unroll
            for (u32 delta = 1; delta < warp_threads; delta *= 2) {
                const u32 other = shuffle_value_up(sum, delta);
                sum += lane >= delta ? other : 0;
            }
            if (at < words)
                zeros_before[at] = before + sum - own;
            before += shuffle_value(sum, warp_threads - 1);
        }
        if (lane == 0)
            zeros_before[words] = before;
    }
};

// Ranked are the places of a block. keys are sorted; bit_rows has a row for each bit of a
// rank, the highest first, and absent those places without a value.
struct Ranked {
    u64 keys[quantile_rows];
    u16 ranks[2][quantile_rows];
    BitRow bit_rows[quantile_bits], absent;

    // sort sorts the keys and the places of ranks[0] by them, in a bitonic network (Batcher
    // 1968). Equal keys may get any order: ranks of equal values are exchangeable.
    METHOD void sort(u32 size) {
        const u32 thread = thread_in_block();
        u16 *const places = ranks[0];
#pragma unroll 1
        for (u32 run = 2; run <= size; run *= 2) {
#pragma unroll 1
            for (u32 stride = run / 2; stride > 0; stride /= 2) {
#pragma unroll 1
                for (u32 pair = thread; pair < size / 2; pair += quantile_threads) {
                    const u32 low = 2 * pair - (pair & stride - 1), high = low + stride;
                    const u64 x = keys[low], y = keys[high];
                    if (x > y == ((low & run) == 0) && x != y) {
                        const u16 place = places[low];
                        keys[low] = y;
                        keys[high] = x;
                        places[low] = places[high];
                        places[high] = place;
                    }
                }
                synchronize_block();
            }
        }
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
                    row.bits[at / 32] = word;
            }
            synchronize_block();
            if (thread < warp_threads)
                row.count(words);
            synchronize_block();
            const u32 zeros = row.zeros_before[words];
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

    // key returns the key of the k-th value of the places [begin, end), counted from 0.
    METHOD u64 key(u32 begin, u32 end, u32 k, u32 size, u32 bits) const {
        const u32 words = (size + 31) / 32;
        u32 rank = 0;
#pragma unroll 1
        for (u32 i = 0; i < bits; i++) {
            const BitRow &row = bit_rows[i];
            const u32 low = row.zeros(begin), high = row.zeros(end);
            rank *= 2;
            if (k < high - low) {
                begin = low;
                end = high;
            } else {
                k -= high - low;
                begin += row.zeros_before[words] - low;
                end += row.zeros_before[words] - high;
                rank++;
            }
        }
        return keys[rank];
    }
};
