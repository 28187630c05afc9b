// Pairs of rows, and the sums of their numbers.
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

// Form selects the pairs of the matches of a row: type form of pairs.go.
enum Form : u32 { every_match, every_match_or_none, any_match, no_match };

// pairs_of returns the number of pairs of a row with a number of matches.
DEVICE u32 pairs_of(u32 form, u32 matches) {
    return form == every_match ? matches : form == every_match_or_none && matches != 0 ? matches : (matches != 0) == (form == any_match);
}

// Sums are the rows that have pairs, in order: their numbers, the places of their first
// matches, no_row without one, and the number of pairs up to each.
struct Sums {
    u32 *rows, *firsts;
    i64 *ends;
};

struct Totals {
    u64 pairs, rows;
};

struct SumTotals {
    METHOD Totals none() const { return {0, 0}; }
    METHOD Totals fold(Totals a, Totals b) const { return {a.pairs + b.pairs, a.rows + b.rows}; }
};

// sum_rows writes the sums of rows. A block takes a tile of them. find(row, first) returns the
// number of matches of a row, and sets first. outcome becomes the number of pairs, and that of
// rows with pairs.
template <typename Find> DEVICE void sum_rows(const Sums &out, u32 form, u64 n, u64 *outcome, void *state, Find find) {
    __shared__ Totals sums[match_warps], tile_before;
    __shared__ u32 firsts[match_rows], counts[match_rows], ticket;
    if (thread_in_block() == 0)
        ticket = take_tile(state);
    synchronize_block();
    const u32 tile = ticket, lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u32 own = warp * (match_loads * warp_threads) + lane;
    const u64 begin = (u64)tile * match_rows + own;
    Totals sum = {0, 0}, all;
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < match_loads; i++) {
        const u64 row = begin + i * warp_threads;
        u32 first = no_row, count = 0;
        if (row < n) {
            const u32 matches = find(row, first);
            count = pairs_of(form, matches);
            if (matches == 0)
                first = no_row;
        }
        firsts[own + i * warp_threads] = first;
        counts[own + i * warp_threads] = count;
        sum.pairs += count;
        sum.rows += __builtin_popcount(ballot(count != 0));
    }
    sum.pairs = warp_fold(sum.pairs, Sum<u64>());
    const Totals warps_before = block_fold_before<match_warps>(sum, sums, all, SumTotals());
    if (warp == 0) {
        const Totals before = before_tile(state, tile, all, SumTotals());
        if (lane == 0) {
            tile_before = before;
            if ((u64)tile * match_rows < n && ((u64)tile + 1) * match_rows >= n) {
                outcome[0] = before.pairs + all.pairs;
                outcome[1] = before.rows + all.rows;
            }
        }
    }
    synchronize_block();
    Totals to = SumTotals().fold(tile_before, warps_before);
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < match_loads; i++) {
        const u32 count = counts[own + i * warp_threads], bits = ballot(count != 0);
        const u64 end = warp_scan((u64)count, Sum<u64>());
        if (count != 0) {
            const u64 at = to.rows + __builtin_popcount(bits & (1u << lane) - 1);
            out.rows[at] = (u32)(begin + i * warp_threads);
            out.firsts[at] = firsts[own + i * warp_threads];
            out.ends[at] = (i64)(to.pairs + end);
        }
        to.pairs += shuffle_value(end, warp_threads - 1);
        to.rows += __builtin_popcount(bits);
    }
}
