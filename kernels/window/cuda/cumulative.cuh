// The template of all cumulative operators: see holes.cuh.
#pragma once

#include "ahead.cuh"
#include "holes.cuh"

// Input is the scanned column.
template <typename Value> struct Input {
    const Value *values;
    const u8 *valid; // null if all rows are valid
    u64 bit;         // number of the first row's bit
    u64 rows;
};

// Rows are a warp's rows of a tile.
struct Rows {
    u64 begin;
    u32 count;

    template <u32 warp_rows> METHOD static Rows of(u32 tile, u32 warp, u64 rows) {
        const u64 begin = ((u64)tile * tile_warps + warp) * warp_rows;
        return {begin, rows <= begin ? 0 : rows - begin < warp_rows ? (u32)(rows - begin) : warp_rows};
    }
    // of_lane returns the number of rows in a lane's run.
    template <u32 chunk_rows> METHOD u32 of_lane(u32 lane) const {
        const u32 ahead = lane * chunk_rows;
        return count <= ahead ? 0 : count - ahead < chunk_rows ? count - ahead : chunk_rows;
    }
};

extern __shared__ u64 shared_rooms[]; // 16 · loads bytes per lane for each of two tiles

// scan_tiles writes the fold of all rows up to each row. If nulls_last is set, all rows
// from the first null on are null; otherwise the rows that are null in the input.
// Values of null rows are not folded. state is null if one block handles all tiles.
//
// The order of the folds, after each of which a float is rounded once:
//
// - within: the rows of a lane, sequentially; - lane_ahead: the lanes before this one
// in the warp, by warp_scan; - warp_ahead: the warps before this one in the tile,
// sequentially; - tile_ahead: the tiles before this one, as in prefixes.cuh; - row =
// (tile_ahead, warp_ahead), (lane_ahead, within).
//
// If the fold is exact, that is, associative without rounding, a lane folds its rows
// sequentially after everything before them: the result is the same, with one fold per
// row instead of three.
//
// If the fold before the warp's rows absorbs all of them, as a maximum may, all its rows
// have that value. This is the case for most warps unless values ascend, and needs no
// rows and no fold.
//
// If keep is set, which requires accumulators as wide as the values, shared memory
// holds the folds within the warp. Otherwise it holds the loaded values, and the rows
// are folded again when the fold before them is known. Measured for 2²⁷ rows on an
// H200, where a copy of 8-byte values takes 505 µs: the sum of float64 takes 592 µs
// with keep and 667 without, the maximum of float64 (with three folds per row) 731 and
// 693; the sum of float32, 298, cannot keep.
//
// The fold, its identity, absorption and the conversions of values are holes. They are
// called without conditions, because clang does not turn a branch around a hole into a
// selection.
template <bool exact, bool keep, int loads, typename Value, typename T>
DEVICE void scan_tiles(Value *out, void *out_valid, Input<Value> input, void *state, bool nulls_last, u64 all_flips) {
    const Fold<T> f;
    const u64 flip = flip_of(Value(), all_flips);

    constexpr int lanes = 16 / sizeof(Value);
    typedef Vector<Value, lanes> Group;
    constexpr int chunk_rows = lanes * loads;
    constexpr u32 warp_rows = warp_threads * chunk_rows, warp_room = 16 * loads * warp_threads;
    static_assert(chunk_rows == 8 || chunk_rows == 16 || chunk_rows == 32, "whole words of bits");
    static_assert(!keep || sizeof(T) == sizeof(Value), "as wide");
    static_assert(loads <= 8 && (loads & loads - 1) == 0, "places");

    __shared__ Exchange<T> exchange[2];
    __shared__ Running<T> running;

    const u32 warp = thread_in_block() / warp_threads;
    const bool first_thread = thread_in_block() == 0;
    const u32 tiles = (u32)((input.rows + tile_warps * warp_rows - 1) / (tile_warps * warp_rows));
    // The first block to take a number computes prefixes; the others process tiles.
    if (first_thread)
        exchange[1].next = state != nullptr ? take_tile(state) : 1;
    synchronize_block();
    u32 tile = exchange[1].next - 1;
    if (tile + 1 == 0) {
        tell_prefixes<tile_warps + 1>(Prefixes<T>(state, tiles), tiles, running, f);
        return;
    }
    if (tile >= tiles)
        return;
    if (warp == tile_warps) {
        look_ahead<T>(state, tile, tiles, exchange, f);
        return;
    }

    const bool straight = aligned(input.values, 16);
    Group group[loads];
    u32 loaded_valid;
    const auto load_tile = [&](u32 tile) {
        const u32 lane = own_lane();
        const Rows rows = Rows::of<warp_rows>(tile, warp, input.rows);
        const Value *const from = input.values + rows.begin + lane * lanes;
        const i32 own = (i32)rows.count - (i32)(lane * lanes);
        if (straight && rows.count == warp_rows) {
#pragma unroll
            for (int i = 0; i < loads; i++)
                group[i] = load_whole((const Group *)from + i * warp_threads);
        } else {
#pragma unroll
            for (int i = 0; i < loads; i++)
#pragma unroll
                for (int j = 0; j < lanes; j++) {
                    const i32 row = i * warp_threads * lanes + j;
                    group[i].lane[j] = row < own ? from[row] : Value();
                }
        }
        // Rows beyond the last are not null and not valid.
        loaded_valid = low_bits(rows.template of_lane<chunk_rows>(lane));
        if (input.valid != nullptr)
            loaded_valid &= load_bits<chunk_rows>(input.valid, input.bit + rows.begin + lane * chunk_rows, input.bit + input.rows);
    };
    load_tile(tile);

    // State of the previous round's tile.
    u32 before = tiles, valid = 0, nulls_in = 0;
    T lane_ahead = f.none();
#pragma nounroll
    for (u32 slot = 0;; slot ^= 1) {
        const u32 lane = own_lane();
        u8 *const rooms = (u8 *)shared_rooms + warp * warp_room;
        T next_lane_ahead = f.none();
        u32 next_valid = 0, next_nulls_in = 0, next = tiles;
        if (tile < tiles) {
            u8 *const room = rooms + slot * (tile_warps * warp_room);
#pragma unroll
            for (int i = 0; i < loads; i++)
                *(Group *)(room + side_place<loads>(lane, i)) = group[i];
            synchronize_warp();
            u32 upcoming = tile + 1;
            if (first_thread && state != nullptr)
                upcoming = take_tile(state) - 1;
            next_valid = loaded_valid;
            T sum = f.none();
#pragma unroll
            for (int i = 0; i < loads; i++) {
                const Group values = *(const Group *)(room + (run_place<loads>(lane) ^ 16 * i));
#pragma unroll
                for (int j = 0; j < lanes; j++) {
                    const T widened = widen<T>(values.lane[j], flip), x = (next_valid >> (i * lanes + j) & 1) != 0 ? widened : f.none();
                    sum = i + j == 0 ? x : f.fold(sum, x);
                }
            }
            const T scanned = warp_scan(sum, f);
            next_lane_ahead = before_lane(scanned, f);
            if constexpr (keep) {
                asm volatile("" ::: "memory"); // reads the values again, because there are too few registers to keep them
                if constexpr (exact)
                    sum = next_lane_ahead;
#pragma unroll
                for (int i = 0; i < loads; i++) {
                    Group *const granule = (Group *)(room + (run_place<loads>(lane) ^ 16 * i));
                    const Group values = *granule;
                    Vector<T, lanes> folded;
#pragma unroll
                    for (int j = 0; j < lanes; j++) {
                        const T widened = widen<T>(values.lane[j], flip), x = (next_valid >> (i * lanes + j) & 1) != 0 ? widened : f.none();
                        if constexpr (exact) {
                            folded.lane[j] = sum = f.fold(sum, x);
                        } else {
                            sum = i + j == 0 ? x : f.fold(sum, x);
                            folded.lane[j] = f.fold(next_lane_ahead, sum);
                        }
                    }
                    *(Vector<T, lanes> *)granule = folded;
                }
                synchronize_warp();
            }
            if (input.valid != nullptr)
                next_nulls_in = ballot(next_valid != low_bits(Rows::of<warp_rows>(tile, warp, input.rows).template of_lane<chunk_rows>(lane)));
            if (lane == warp_threads - 1) {
                exchange[slot].sums[warp] = scanned;
                exchange[slot].nulls[warp] = next_nulls_in;
            }
            if (first_thread)
                exchange[slot].next = upcoming;
        }
        synchronize_block();
        if (tile < tiles) {
            next = exchange[slot].next;
            if (next < tiles)
                load_tile(next);
        }
        if (before < tiles) {
            const Exchange<T> &known = exchange[slot ^ 1];
            u8 *const room = rooms + (slot ^ 1) * (tile_warps * warp_room);
            const Rows rows = Rows::of<warp_rows>(before, warp, input.rows);
            const T ahead = known.aheads[warp];
            const bool constant = !keep && f.absorbs(ahead, known.sums[warp]);
            if (!keep && !constant) {
                T sum = exact ? f.fold(ahead, lane_ahead) : f.none();
#pragma unroll
                for (int i = 0; i < loads; i++) {
                    Group *const granule = (Group *)(room + (run_place<loads>(lane) ^ 16 * i));
                    Group values = *granule;
#pragma unroll
                    for (int j = 0; j < lanes; j++) {
                        const T widened = widen<T>(values.lane[j], flip), x = (valid >> (i * lanes + j) & 1) != 0 ? widened : f.none();
                        if constexpr (exact) {
                            sum = f.fold(sum, x);
                            values.lane[j] = narrow<Value>(sum, flip);
                        } else {
                            sum = i + j == 0 ? x : f.fold(sum, x);
                            values.lane[j] = narrow<Value>(f.fold(ahead, f.fold(lane_ahead, sum)), flip);
                        }
                    }
                    *granule = values;
                }
                synchronize_warp();
            }
            Value *const to = out + rows.begin + lane * lanes;
            const i32 own = (i32)rows.count - (i32)(lane * lanes);
#pragma unroll 2
            for (int i = 0; i < loads; i++) {
                Group values;
                if constexpr (keep) {
                    const auto folded = *(const Vector<T, lanes> *)(room + side_place<loads>(lane, i));
#pragma unroll
                    for (int j = 0; j < lanes; j++)
                        values.lane[j] = narrow<Value>(f.fold(ahead, folded.lane[j]), flip);
                } else if (constant) {
#pragma unroll
                    for (int j = 0; j < lanes; j++)
                        values.lane[j] = narrow<Value>(ahead, flip);
                } else
                    values = *(const Group *)(room + side_place<loads>(lane, i));
                if (rows.count == warp_rows)
                    store_whole((Group *)to + i * warp_threads, values);
                else
#pragma unroll
                    for (int j = 0; j < lanes; j++)
                        if (i32(i * warp_threads * lanes + j) < own)
                            to[i * warp_threads * lanes + j] = values.lane[j];
            }
            synchronize_warp();
            const u32 here = rows.template of_lane<chunk_rows>(lane);
            if (out_valid != nullptr && here != 0) {
                if (nulls_last) {
                    const u32 null = low_bits(here) & ~valid;
                    if (known.null_aheads[warp] != 0 || (nulls_in & low_bits(lane)) != 0)
                        valid = 0;
                    else if (null != 0)
                        valid = (null & -null) - 1; // the bits below the lowest
                }
                const u64 at = (rows.begin + lane * chunk_rows) / 8;
                if constexpr (chunk_rows == 8)
                    ((u8 *)out_valid)[at] = valid;
                else if constexpr (chunk_rows == 16)
                    *(u16 *)((u8 *)out_valid + at) = valid;
                else
                    *(u32 *)((u8 *)out_valid + at) = valid;
            }
        }
        if (tile >= tiles)
            return;
        before = tile;
        valid = next_valid;
        nulls_in = next_nulls_in;
        lane_ahead = next_lane_ahead;
        tile = next;
    }
}

// CUMULATIVE declares a template: see scan_tiles, and fold.onGPU in Go for the arguments.
#define CUMULATIVE(name, exact, keep, loads, Value, Word)                                                            \
    KERNEL __attribute__((launch_bounds(tile_threads, tile_blocks)))                                                 \
    name(Value *out, void *out_valid, const Value *values, const u8 *valid, u64 bit, const i64 *rows, i64 capacity,  \
         void *state, u64 flip, u32 nulls_last) {                                                                    \
        const Input<Value> input = {values, valid, bit, device_rows(rows, capacity)};                                \
        scan_tiles<exact, keep, loads, Value, Word>(out, out_valid, input, state, nulls_last != 0, flip);            \
    }
