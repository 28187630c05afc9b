// The kernel that keeps the rows of the one column that a predicate reads, which is put
// in place of its marked lines by codegen.Splice. What was loaded for the predicate is
// what is stored, so the column is read once.
//
// What lies before a tile takes some 6 µs to learn when the memory is busy: longer than
// a tile takes. So a block goes on with the next tiles, and stores one when its place is
// known. 2²⁷ float64 of which half are kept take 381 µs on an H200, 375 where the
// place is not waited for at all, 499 with one tile held instead of two, and 597 by
// compact_where, which waits. (The copy rate of that device allows 379.)
#pragma once

#include "compact.cuh"
#include "prefixes.cuh"

// A tile is what a block takes: a segment for each warp but the last, which learns where
// they go. So three blocks have, of values of 8 bytes, 84 KiB on their way and twice as
// much in shared memory, for which a block takes less than the 64 KiB that there are at
// least.
static constexpr u32 one_warps = 7, one_threads = (one_warps + 1) * warp_threads, one_rows = one_warps * segment_rows;
static constexpr u32 held = 2; // tiles

#define ONE_BOUNDS __attribute__((launch_bounds(one_threads, 3)))

// One is the column.
struct One {
    const u8 *source;
    u8 *out;
};

// Found is what further kernels need to keep further columns: see Mask and Where. Every
// segment has a base of its own.
struct Found {
    u32 *bits; // null where there are no further columns
    u32 *within;
    u64 *bases;
};

// Arguments stands for those of the predicate: see compact_where.cuh.
struct Arguments {
    u64 word[1];
};

// Exchange is what the warps of a block tell each other of a tile. There are four of
// them: the tile that is counted, two that are held, and one that is being stored.
struct Exchange {
    u32 counts[one_warps], begins[one_warps];
    u32 tile, next; // its number, and that of the block's next one
};
static constexpr u32 exchanges = 4;

// find_places is what the last warp of a block does.
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

// evaluate_four evaluates the predicate for four rows, whose values are in registers.
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

// own_bits evaluates the predicate for a segment of limit rows from begin on, whose
// values were loaded. Bit i says whether the lane keeps row 32 i + lane.
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

extern __shared__ u64 shared_kept[]; // the values of the tiles that are held

// compact_one keeps the rows that the predicate is true of. There are fewer than 2³² rows.
template <typename T>
DEVICE void compact_one(void *state, const i64 *rows, i64 capacity, i64 *kept, const Found &found, const One &one) {
    __shared__ Exchange exchange[exchanges];
    __shared__ Running<u32> running;
    const u32 warp = thread_in_block() / warp_threads, lane = lane_in_warp(), own = 1u << lane;
    const bool first_thread = thread_in_block() == 0;
    const u32 n = rows_of(rows, capacity), tiles = n / one_rows + (n % one_rows != 0);
    const Prefixes<u32> prefixes(state, tiles);
    // The first block to take a number has prefixes to tell, the others tiles.
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
            // Now that the tile is here, the next one's number is asked for.
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
        // After the last one there are as many rounds as tiles are held: see find_places.
        if (round + 1 >= held && held_tile[held - 2] >= tiles)
            return;
        held_tile[1] = held_tile[0], held_count[1] = held_count[0];
        held_tile[0] = tile, held_count[0] = count;
        tile = next;
    }
}
