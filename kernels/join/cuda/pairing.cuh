// Pairs of rows that have one match or none.
#pragma once

#include "lookback.cuh"

static constexpr u32 no_row = 0xffffffff;

// PairsOut is where pairs go: numbers of rows of 64 bits if wide is set, otherwise of 32.
struct PairsOut {
    void *probe, *build;
    u64 wide;

    METHOD void write(u64 at, u32 probe_row, u32 build_row) const {
        if (wide != 0) {
            ((u64 *)probe)[at] = probe_row;
            ((u64 *)build)[at] = build_row;
        } else {
            ((u32 *)probe)[at] = probe_row;
            ((u32 *)build)[at] = build_row;
        }
    }
};

static constexpr u32 match_threads = 256, match_warps = match_threads / warp_threads, match_loads = 8;
static constexpr u32 match_rows = match_threads * match_loads; // Go's matchRows

// pair_rows writes a pair of each row that has a match, in the order of the rows. A block
// takes a tile of them. find(found, begin) writes the matches of the rows from begin on, each a
// warp after the other. outcome becomes the number of pairs, and 1.
template <typename Find> DEVICE void pair_rows(const PairsOut &out, u64 n, u64 *outcome, void *state, Find find) {
    __shared__ u32 sums[match_warps], ticket;
    __shared__ u64 tile_before;
    if (thread_in_block() == 0)
        ticket = take_tile(state);
    synchronize_block();
    const u32 tile = ticket, lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u64 begin = (u64)tile * match_rows + warp * (match_loads * warp_threads) + lane;
    u32 found[match_loads], bits[match_loads], sum = 0, all;
    find(found, begin);
#pragma unroll
    for (u32 i = 0; i < match_loads; i++) {
        bits[i] = ballot(found[i] != no_row);
        sum += __builtin_popcount(bits[i]);
    }
    const u32 own = block_fold_before<match_warps>(sum, sums, all, Sum<u32>());
    if (warp == 0) {
        const u64 before = before_tile(state, tile, (u64)all, Sum<u64>());
        if (lane == 0) {
            tile_before = before;
            if ((u64)tile * match_rows < n && ((u64)tile + 1) * match_rows >= n) {
                outcome[0] = before + all;
                outcome[1] = 1;
            }
        }
    }
    synchronize_block();
    u64 to = tile_before + own;
#pragma unroll
    for (u32 i = 0; i < match_loads; i++) {
        if (found[i] != no_row)
            out.write(to + __builtin_popcount(bits[i] & (1u << lane) - 1), (u32)(begin + i * warp_threads), found[i]);
        to += __builtin_popcount(bits[i]);
    }
}
