// The kernel that keeps the rows for which a predicate is true. codegen.Splice replaces
// its marked lines with the predicate. Fused columns of 4 bytes and of 8 bytes have
// separate kernels, so that the driver has little to compile for a new predicate.
#pragma once

#include "lookback.cuh"
#include "predicate.cuh"

// A tile is the work of a block: one segment per warp.
static constexpr u32 where_rows = compact_warps * segment_rows;

// Fused are the columns that the predicate reads and this kernel keeps, while their
// values are still cached.
static constexpr u32 fused_most = 4;

struct Fused {
    struct {
        const u8 *source;
        u8 *out;
    } column[fused_most];
    u64 count;
};

// warp_keep_bits evaluates the predicate for a segment of limit rows from row begin.
// Each of the first lanes gets its word.
DEVICE u32 warp_keep_bits(u32 begin, u32 limit) {
    const u32 lane = lane_in_warp();
    u32 word = 0;
    if (limit == segment_rows) {
#pragma nounroll
        for (u32 i = 0; i < segment_words; i += 4) {
            u32 keep[4];
            asm volatile("//@predicate %0 %1 %2 %3 %4 %5"
                         : "=r"(keep[0]), "=r"(keep[1]), "=r"(keep[2]), "=r"(keep[3])
                         : "l"((u64)(begin + 32 * i + lane)), "n"(32));
#pragma unroll
            for (u32 j = 0; j < 4; j++) {
                const u32 keeps = ballot(keep[j] != 0);
                word = lane == i + j ? keeps : word;
            }
        }
        return word;
    }
#pragma nounroll
    for (u32 i = 0; 32 * i < limit; i++) {
        const u32 row = 32 * i + lane;
        u32 keep;
        asm volatile("//@predicate %0 %1" : "=r"(keep) : "l"((u64)(begin + (row < limit ? row : limit - 1))));
        const u32 keeps = ballot(keep != 0 && row < limit);
        word = lane == i ? keeps : word;
    }
    return word;
}

// compact_where keeps the rows for which the predicate, which writes 0 or 1, is true.
// There are fewer than 2³² rows.
//
// A block loops over tiles and takes the next one while it still stores, so it does not
// wait for the number or for the start of another block.
template <typename T>
DEVICE void compact_where(void *state, const i64 *rows, i64 capacity, i64 *kept, const Found &found, const Fused &fused) {
    __shared__ u32 taken, counts[compact_warps], tile_begin;
    __shared__ Shared shared;
    const u32 warp = thread_in_block() / warp_threads, lane = lane_in_warp();
    const u32 n = rows_of(rows, capacity), tiles = n / where_rows + (n % where_rows != 0);
    if (thread_in_block() == 0)
        taken = take_tile(state);
#pragma nounroll
    for (;;) {
        synchronize_block();
        const u32 tile = taken;
        if (tile >= tiles) {
            if (n == 0 && tile == 0 && thread_in_block() == 0)
                *kept = 0;
            return;
        }
        const u32 segment = tile * compact_warps + warp, begin = segment * segment_rows;
        const u32 limit = begin >= n ? 0 : n - begin < segment_rows ? n - begin : segment_rows;

        // The load of the first column starts before the predicate reads it.
        T value[segment_words] = {};
        if (limit == segment_rows && fused.count != 0)
            load_segment(value, (const T *)global_of(fused.column[0].source) + begin);
        const u32 word = warp_keep_bits(begin, limit);
        const u32 *words = share(shared, word);
        if (lane == 0) {
            u32 count = 0;
#pragma unroll
            for (u32 i = 0; i < segment_words; i++)
                count += __builtin_popcount(words[i]);
            counts[warp] = count;
        }
        synchronize_block();
        u32 ahead = 0, total = 0;
#pragma unroll
        for (u32 i = 0; i < compact_warps; i++) {
            ahead += i < warp ? counts[i] : 0;
            total += counts[i];
        }
        if (warp == 0) {
            const u32 before = before_tile(state, tile, total, Sum<u32>());
            if (lane == 0) {
                tile_begin = before;
                if (found.bits != nullptr)
                    global_of(found.bases)[tile] = before;
                if (tile == tiles - 1)
                    *kept = (u64)before + total;
            }
        }
        if (found.bits != nullptr) {
            if (lane < segment_words)
                global_of(found.bits)[segment * segment_words + lane] = words[lane];
            if (lane == 0)
                global_of(found.within)[segment] = ahead;
        }
        synchronize_block();
        u32 next = 0;
        if (thread_in_block() == 0)
            next = take_tile(state);
        const u32 to = tile_begin + ahead;
#pragma nounroll
        for (u32 i = 0; i < fused.count; i++) {
            const T *source = (const T *)global_of(fused.column[i].source) + begin;
            T *out = (T *)global_of(fused.column[i].out) + to;
            if (limit != segment_rows) {
                each_kept(words, [=](u32 row, u32 place) { out[place] = source[row]; });
                continue;
            }
            if (i > 0)
                load_segment(value, source);
            store_kept(value, out, words);
        }
        if (thread_in_block() == 0)
            taken = next;
    }
}

#define COMPACT_WHERE(width, T)                                                                                        \
    KERNEL COMPACT_BOUNDS compact_where_##width(void *state, const i64 *rows, i64 capacity, i64 *kept, Found found,    \
                                                Fused fused, Arguments) {                                              \
        compact_where<T>(state, rows, capacity, kept, found, fused);                                                   \
    }
