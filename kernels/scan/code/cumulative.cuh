// The kernel of all cumulative operators. A type of operator says what the values
// are and how they are folded:
//
//     Value                      as they lie in memory
//     Folded                     as they are folded
//     Fold                       see scan.cuh
//     Folded in(Value) const     and back:
//     Value out(Folded) const
#pragma once

#include "bitrow.cuh"
#include "lookback.cuh"

// How a tile is cut: each of its warps has a run of rows, of which a lane loads 16
// bytes at a time, 32 lanes side by side. So loads and stores coalesce, and values
// need not go through shared memory to be scanned.
static constexpr u32 tile_threads = 256, tile_warps = tile_threads / warp_threads;

// one_block_tiles is the most that a block scans alone, without state: half the
// tiles of a group, each of which a lane remembers.
static constexpr u32 one_block_tiles = 16;

// Input is what is scanned.
template <typename Value> struct Input {
    const Value *values;
    const u8 *valid; // or null where all are
    u64 bit;         // of the first row
    u64 rows;
};

// scan_tiles writes the folds of all rows up to each. Where nulls_last is set, all
// rows from the first null on are null, else those that are in the input; what they
// hold does not count. state is null where one block does it all.
//
// The order of the folds, after each of which a float is rounded once:
//  - a lane's values of one load, one after another from the first: within;
//  - the last of these over the lanes of the warp as warp_scan does, of which
//    lane_ahead is what the lanes ahead have;
//  - what the loads ahead in the same warp have, one after another: load_ahead;
//  - what the warps ahead in the tile have, one after another: warp_ahead;
//  - what the tiles ahead have as before_tile says: tile_ahead;
//  - row = (tile_ahead, warp_ahead), ((load_ahead, lane_ahead), within).
template <int loads, typename Operator>
DEVICE void scan_tiles(typename Operator::Value *out, void *out_valid, Input<typename Operator::Value> input, void *state,
                       bool nulls_last, Operator op) {
    typedef typename Operator::Value Value;
    typedef typename Operator::Folded T;
    typename Operator::Fold f;

    constexpr int lanes = 16 / sizeof(Value);
    typedef Vector<Value, lanes> Group;
    // A lane's share of the validity bits is of rows side by side: chunk_rows of
    // them, one lane after another.
    constexpr int chunk_rows = lanes * loads;
    constexpr u32 warp_rows = warp_threads * chunk_rows, tile_rows = tile_warps * warp_rows;
    static_assert(chunk_rows == 8 || chunk_rows == 16 || chunk_rows == 32, "whole words of bits");
    static_assert((loads & loads - 1) == 0, "loads of one lane of bits");

    // Each thread keeps what it has folded here while it waits for what lies ahead:
    // registers would be too few for enough blocks.
    constexpr int width = 16 / sizeof(T);
    static_assert(lanes % width == 0, "16 bytes are of one load");
    __shared__ Vector<T, width> folded[chunk_rows / width][tile_threads];
    __shared__ T sums[tile_warps];
    __shared__ T shared_ahead;
    __shared__ u32 shared_null[tile_warps];
    __shared__ u32 shared_null_ahead;
    __shared__ u32 shared_tile;

    const u32 warp = thread_in_block() / warp_threads;
    const bool first_thread = thread_in_block() == 0;
    const bool straight = aligned(input.values, 16);
    const u32 tiles = (u32)((input.rows + tile_rows - 1) / tile_rows);

    u32 upcoming = 0;
    if (state != nullptr && first_thread)
        upcoming = take_tile(state);
    T remembered = f.none(); // of tile number lane, where there is no state
    bool null_before = false;

    for (u32 round = 0;; round++) {
        u32 tile = round;
        if (state != nullptr) {
            if (first_thread)
                shared_tile = upcoming;
            synchronize_block();
            tile = shared_tile;
        }
        if (tile >= tiles)
            return;
        // Anew in each round, or the compiler keeps all that follows from the lane's
        // number in registers.
        u32 lane;
        asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
        const u64 begin = (u64)tile * tile_rows + warp * warp_rows;
        const u32 left = input.rows <= begin ? 0 : input.rows - begin < warp_rows ? (u32)(input.rows - begin) : warp_rows;
        // Of these the rows i · warp_threads · lanes + j are the lane's.
        const Value *const from = input.values + begin + lane * lanes;
        const i32 own = (i32)left - (i32)(lane * lanes);
        Group group[loads];
        if (straight && left == warp_rows) {
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
        // A chunk's rows beyond the last count as neither null nor valid.
        const u32 here = left <= lane * chunk_rows ? 0 : left - lane * chunk_rows;
        const u32 present = low_bits(here < chunk_rows ? here : chunk_rows);
        u32 chunk = present;
        if (input.valid != nullptr)
            chunk &= load_bits<chunk_rows>(input.valid, input.bit + begin + lane * chunk_rows, input.bit + input.rows);
        T sum = f.none();
#pragma unroll
        for (int i = 0; i < loads; i++) {
            const u32 bits = shuffle_value(chunk, i * warp_threads / loads + lane / loads) >> lane % loads * lanes;
            T within[lanes];
#pragma unroll
            for (int j = 0; j < lanes; j++) {
                const T x = (bits >> j & 1) != 0 ? op.in(group[i].lane[j]) : f.none();
                within[j] = j == 0 ? x : f.fold(within[j - 1], x);
            }
            const T up_to = warp_scan(within[lanes - 1], f);
            const T ahead = f.fold(sum, before_lane(up_to, f));
#pragma unroll
            for (int j = 0; j < lanes; j++)
                folded[(i * lanes + j) / width][thread_in_block()].lane[j % width] = f.fold(ahead, within[j]);
            sum = f.fold(sum, shuffle_value(up_to, warp_threads - 1));
        }
        const u32 nulls_in = ballot(chunk != present);
        if (lane == 0) {
            sums[warp] = sum;
            shared_null[warp] = nulls_in != 0;
        }
        synchronize_block();

        T warp_ahead = f.none(), tile_sum = f.none();
        bool null_ahead = false, null_in_tile = false;
#pragma unroll
        for (u32 i = 0; i < tile_warps; i++) {
            if (i == warp) {
                warp_ahead = tile_sum;
                null_ahead = null_in_tile;
            }
            tile_sum = f.fold(tile_sum, sums[i]);
            null_in_tile |= shared_null[i] != 0;
        }
        if (warp == 0) {
            T before;
            if (state != nullptr) {
                bool mark = null_in_tile;
                before = before_tile(state, tile, tile_sum, mark, f);
                null_before = mark;
            } else {
                before = warp_fold(remembered, f);
                if (lane == tile)
                    remembered = tile_sum;
            }
            if (lane == 0) {
                shared_ahead = before;
                shared_null_ahead = null_before;
            }
            if (state == nullptr)
                null_before |= null_in_tile;
        }
        synchronize_block();
        if (state != nullptr && first_thread)
            upcoming = take_tile(state);

        const T ahead = f.fold(shared_ahead, warp_ahead);
#pragma unroll
        for (int i = 0; i < loads; i++)
#pragma unroll
            for (int j = 0; j < lanes; j++)
                group[i].lane[j] = op.out(f.fold(ahead, folded[(i * lanes + j) / width][thread_in_block()].lane[j % width]));
        Value *const to = out + begin + lane * lanes;
        if (left == warp_rows) {
#pragma unroll
            for (int i = 0; i < loads; i++)
                store_whole((Group *)to + i * warp_threads, group[i]);
        } else {
#pragma unroll
            for (int i = 0; i < loads; i++)
#pragma unroll
                for (int j = 0; j < lanes; j++) {
                    const i32 row = i * warp_threads * lanes + j;
                    if (row < own)
                        to[row] = group[i].lane[j];
                }
        }
        if (out_valid == nullptr || here == 0)
            continue;
        if (nulls_last) {
            const u32 nulls = present & ~chunk;
            if (shared_null_ahead != 0 || null_ahead || (nulls_in & low_bits(lane)) != 0)
                chunk = 0;
            else if (nulls != 0)
                chunk = (nulls & -nulls) - 1; // the bits below the lowest
        }
        const u64 at = (begin + lane * chunk_rows) / 8;
        if constexpr (chunk_rows == 8)
            ((u8 *)out_valid)[at] = chunk;
        else if constexpr (chunk_rows == 16)
            *(u16 *)((u8 *)out_valid + at) = chunk;
        else
            *(u32 *)((u8 *)out_valid + at) = chunk;
    }
}

// CUMULATIVE declares a kernel of which at least so many blocks are resident. See Go's kernel.launch for the arguments.
#define CUMULATIVE(name, loads, blocks, Operator)                                                                    \
    KERNEL __attribute__((launch_bounds(tile_threads, blocks)))                                                      \
    name(Operator::Value *out, void *out_valid, const Operator::Value *values, const u8 *valid, u64 bit,             \
         const i64 *rows, i64 capacity, void *state, u64 turn, u32 nulls_last) {                                     \
        const Input<Operator::Value> input = {values, valid, bit, device_rows(rows, capacity)};                      \
        scan_tiles<loads>(out, out_valid, input, state, nulls_last != 0, Operator{turn});                            \
    }
