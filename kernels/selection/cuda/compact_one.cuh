// The kernel that keeps the rows of a column that is the only input of a predicate.
// codegen.Splice replaces its marked lines with the predicate. The kernel stores the
// values that it loaded for the predicate, so it reads the column once.
//
// The number of kept rows before a tile takes some 6 µs to arrive when the memory is
// busy, which is longer than the work on a tile. A block therefore continues with the
// next tiles, and stores a tile when its position is known. Keeping half of 2²⁷ float64
// takes 381 µs on an H200, 375 without waiting for the position, 499 with one tile held
// instead of two, and 597 with compact_where, which waits. (The copy rate of that
// device allows 379.)
#pragma once

#include "predicate.cuh"
#include "prefixes.cuh"

// A tile is the work of a block: one segment per warp except the last warp, which
// computes their positions. With values of 8 bytes, three blocks have 84 KiB of loads
// in flight and twice as much in shared memory; a block uses less than 64 KiB, which
// every device has.
static constexpr u32 one_warps = 7, one_threads = (one_warps + 1) * warp_threads, one_rows = one_warps * segment_rows;
static constexpr u32 held = 2; // tiles

#define ONE_BOUNDS __attribute__((launch_bounds(one_threads, 3)))

// One is the column.
struct One {
    const u8 *source;
    u8 *out;
};

// Exchange holds a tile's data that the warps of a block share. There are four: for the
// tile that is counted, the two that are held, and the one that is stored.
struct Exchange {
    u32 counts[one_warps], begins[one_warps];
    u32 tile, next; // its number, and the number of the block's next tile
};
static constexpr u32 exchanges = 4;

// find_places is the code of the last warp of a block.
DEVICE void find_places(const Prefixes<u32> &prefixes, u32 tiles, Exchange *exchange, const Found &found, i64 *kept) {
    const u32 lane = lane_in_warp();
#pragma nounroll
    for (u32 round = 0;; round++) {
        synchronize_block();
        const Exchange &now = exchange[round % exchanges];
        if (now.tile < tiles) {
            const u32 count = lane < one_warps ? now.counts[lane] : 0, total = warp_fold(count, Sum<u32>());
            if (lane == 0)
                prefixes.publish(now.tile, total, false);
        }
        if (round + 1 < held)
            continue;
        Exchange &then = exchange[(round + 1 - held) % exchanges];
        const u32 tile = then.tile;
        if (tile >= tiles)
            return;
        const u32 count = lane < one_warps ? then.counts[lane] : 0, scanned = warp_scan(count, Sum<u32>());
        bool marked;
        const u32 before = prefixes.wait(tile, marked), begin = before + scanned - count;
        if (lane < one_warps) {
            then.begins[lane] = begin;
            if (found.bits != nullptr) {
                global_of(found.bases)[tile * one_warps + lane] = begin;
                global_of(found.within)[tile * one_warps + lane] = 0;
            }
        }
        if (tile == tiles - 1 && lane == warp_threads - 1)
            *kept = (u64)before + scanned;
    }
}

// evaluate_four evaluates the predicate for four rows with values in registers.
DEVICE void evaluate_four(u32 (&keep)[4], u64 row, const u64 *value) {
    asm volatile("//@predicate %0 %1 %2 %3 %4 %5 given %6 %7 %8 %9"
                 : "=r"(keep[0]), "=r"(keep[1]), "=r"(keep[2]), "=r"(keep[3])
                 : "l"(row), "n"(32), "l"(value[0]), "l"(value[1]), "l"(value[2]), "l"(value[3]));
}

DEVICE void evaluate_four(u32 (&keep)[4], u64 row, const u32 *value) {
    asm volatile("//@predicate %0 %1 %2 %3 %4 %5 given %6 %7 %8 %9"
                 : "=r"(keep[0]), "=r"(keep[1]), "=r"(keep[2]), "=r"(keep[3])
                 : "l"(row), "n"(32), "r"(value[0]), "r"(value[1]), "r"(value[2]), "r"(value[3]));
}

// own_bits evaluates the predicate for a segment of limit rows from row begin, after
// their values were loaded. Bit i is set if the lane keeps row 32 i + lane.
template <typename T> DEVICE u32 own_bits(const T (&value)[segment_words], u32 begin, u32 limit) {
    const u32 lane = lane_in_warp();
    u32 bits = 0;
    if (limit == segment_rows) {
#pragma unroll
        for (u32 i = 0; i < segment_words; i += 4) {
            u32 keep[4];
            evaluate_four(keep, begin + 32 * i + lane, value + i);
            bits |= keep[0] << i | keep[1] << (i + 1) | keep[2] << (i + 2) | keep[3] << (i + 3);
        }
        return bits;
    }
#pragma nounroll
    for (u32 row = lane, i = 0; row < limit; row += 32, i++) {
        u32 keep;
        asm volatile("//@predicate %0 %1" : "=r"(keep) : "l"((u64)(begin + row)));
        bits |= keep << i;
    }
    return bits;
}

extern __shared__ u64 shared_kept[]; // the values of the held tiles

// compact_one keeps the rows for which the predicate is true. There are fewer than 2³²
// rows. Every segment has a separate base in found.
template <typename T>
DEVICE void compact_one(void *state, const i64 *rows, i64 capacity, i64 *kept, const Found &found, const One &one) {
    __shared__ Exchange exchange[exchanges];
    __shared__ Running<u32> running;
    const u32 warp = thread_in_block() / warp_threads, lane = lane_in_warp(), own = 1u << lane;
    const bool first_thread = thread_in_block() == 0;
    const u32 n = rows_of(rows, capacity), tiles = n / one_rows + (n % one_rows != 0);
    const Prefixes<u32> prefixes(state, tiles);
    // The first block to take a number computes prefixes; the others process tiles.
    if (first_thread)
        exchange[exchanges - 1].next = take_tile(state);
    synchronize_block();
    u32 tile = exchange[exchanges - 1].next - 1;
    if (tile + 1 == 0) {
        if (n == 0 && first_thread)
            *kept = 0;
        tell_prefixes<one_warps + 1>(prefixes, tiles, running, Sum<u32>());
        return;
    }
    if (tile >= tiles)
        return;
    if (warp == one_warps) {
        find_places(prefixes, tiles, exchange, found, kept);
        return;
    }

    const T *const source = (const T *)global_of(one.source);
    T *const out = (T *)global_of(one.out);
    const auto begin_of_tile = [&](u32 tile) { return (tile * one_warps + warp) * segment_rows; };
    const auto limit_of_tile = [&](u32 tile) {
        const u32 begin = begin_of_tile(tile);
        return begin >= n ? 0 : n - begin < segment_rows ? n - begin : segment_rows;
    };
    T value[segment_words] = {};
    const auto load_tile = [&](u32 tile) {
        const T *const from = source + begin_of_tile(tile);
        const u32 limit = limit_of_tile(tile);
        if (limit == segment_rows) {
            load_segment(value, from);
        } else {
#pragma unroll
            for (u32 i = 0; i < segment_words; i++)
                value[i] = 32 * i + lane < limit ? from[32 * i + lane] : 0;
        }
    };
    load_tile(tile);
    u32 held_tile[held], held_count[held];
#pragma unroll
    for (u32 i = 0; i < held; i++)
        held_tile[i] = tiles, held_count[i] = 0;
#pragma nounroll
    for (u32 round = 0;; round++) {
        u32 count = 0, bits = 0;
        if (tile < tiles) {
            bits = own_bits(value, begin_of_tile(tile), limit_of_tile(tile));
            // The tile has arrived: request the number of the next one.
            u32 upcoming = 0;
            if (first_thread)
                upcoming = take_tile(state) - 1;
            count = warp_fold((u32)__builtin_popcount(bits), Sum<u32>());
            if (found.bits != nullptr) {
                u32 *const words = global_of(found.bits) + (tile * one_warps + warp) * segment_words;
#pragma nounroll
                for (u32 i = 0; i < segment_words; i++) {
                    const u32 keep = ballot(bits >> i & 1);
                    if (lane == i)
                        words[i] = keep;
                }
            }
            if (lane == 0)
                exchange[round % exchanges].counts[warp] = count;
            if (first_thread)
                exchange[round % exchanges].next = upcoming;
        }
        if (first_thread)
            exchange[round % exchanges].tile = tile;
        synchronize_block();
        // The oldest tile makes room for this one, and this one for the next.
        T *const room = (T *)shared_kept + ((round % held) * one_warps + warp) * segment_rows;
        if (held_tile[held - 1] < tiles) {
            T *const to = out + exchange[(round - held) % exchanges].begins[warp];
#pragma unroll 4
            for (u32 i = lane; i < held_count[held - 1]; i += warp_threads)
                to[i] = room[i];
            synchronize_warp();
        }
        u32 next = tile;
        if (tile < tiles) {
            T *to = room;
#pragma unroll
            for (u32 i = 0; i < segment_words; i++) {
                const u32 keep = ballot(bits >> i & 1);
                if (keep & own)
                    to[__builtin_popcount(keep & (own - 1))] = value[i];
                to += __builtin_popcount(keep);
            }
            synchronize_warp();
            next = exchange[round % exchanges].next;
            if (next < tiles)
                load_tile(next);
        }
        // After the last tile, as many rounds follow as tiles are held: see
        // find_places.
        if (round + 1 >= held && held_tile[held - 2] >= tiles)
            return;
        held_tile[1] = held_tile[0], held_count[1] = held_count[0];
        held_tile[0] = tile, held_count[0] = count;
        tile = next;
    }
}

#define COMPACT_ONE(width, T)                                                                                          \
    KERNEL ONE_BOUNDS compact_one_##width(void *state, const i64 *rows, i64 capacity, i64 *kept, Found found, One one, \
                                          Arguments) {                                                                 \
        compact_one<T>(state, rows, capacity, kept, found, one);                                                       \
    }
