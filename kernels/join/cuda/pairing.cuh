// Pairs of rows, and the sums of their numbers.
#pragma once

#include "lookback.cuh"

static constexpr u32 no_row = 0xffffffff;

// PairsOut is where pairs go: numbers of rows of 64 bits if wide is set, otherwise of 32.
//go:layout pairsOutLayout any
struct PairsOut {
    void *probe, *build;
    u64 wide;

    METHOD u32 build_row(u64 at) const { return wide != 0 ? (u32)((const u64 *)build)[at] : ((const u32 *)build)[at]; }

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

// Finding is the report of a kernel that writes the pair of each row at the place of the row. It
// is zero if each row has one match.
enum Finding : u32 { missing_rows = 1, repeated_keys };

// finding_of returns the finding in the state of tiles. It lies behind the ticket.
DEVICE u32 *finding_of(void *state) { return (u32 *)state + 1; }

static constexpr u32 match_threads = 256, match_warps = match_threads / warp_threads;
// A thread has at most this many rows: Go's matchLoads.
static constexpr u32 match_loads = 8, match_rows = match_threads * match_loads;

// Tile is the rows of a block: loads for each thread, those of a warp after each other.
struct Tile {
    u32 number, loads;
    u64 n;

    METHOD u32 rows() const { return match_threads * loads; }
    // own is the place of a thread's first row in the tile. The others are a warp apart.
    METHOD u32 own() const { return thread_in_block() / warp_threads * (loads * warp_threads) + lane_in_warp(); }
    METHOD u64 begin() const { return (u64)number * rows() + own(); }
    METHOD bool is_last() const { return (u64)number * rows() < n && ((u64)number + 1) * rows() >= n; }
};

// next_tile returns the next tile of n rows to all threads of the block.
DEVICE Tile next_tile(void *state, u32 loads, u64 n) {
    __shared__ u32 ticket;
    if (thread_in_block() == 0)
        ticket = take_tile(state);
    synchronize_block();
    return {ticket, loads, n};
}

// pair_rows writes a pair of each row that has a match, in the order of the rows. A block
// takes a tile of them. find(rows, begin) writes the matches of a thread's rows from begin on,
// each a warp after the other in both. outcome becomes the number of pairs, and 1.
template <typename Find> DEVICE void pair_rows(const PairsOut &out, u64 n, u32 loads, u64 *outcome, void *state, Find find) {
    __shared__ u32 sums[match_warps], rows[match_rows];
    __shared__ u64 tile_before;
    const Tile tile = next_tile(state, loads, n);
    const u32 lane = lane_in_warp();
    u32 *const own = rows + tile.own();
    u32 sum = 0, all;
    find(own, tile.begin());
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < loads; i++)
        sum += __builtin_popcount(ballot(own[i * warp_threads] != no_row));
    const u32 warps_before = block_fold_before<match_warps>(sum, sums, all, Sum<u32>());
    if (thread_in_block() < warp_threads) {
        const u64 before = before_tile(state, tile.number, (u64)all, Sum<u64>());
        if (lane == 0) {
            tile_before = before;
            if (tile.is_last()) {
                outcome[0] = before + all;
                outcome[1] = 1;
            }
        }
    }
    synchronize_block();
    u64 to = tile_before + warps_before;
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < loads; i++) {
        const u32 found = own[i * warp_threads], bits = ballot(found != no_row);
        if (found != no_row)
            out.write(to + __builtin_popcount(bits & (1u << lane) - 1), (u32)(tile.begin() + i * warp_threads), found);
        to += __builtin_popcount(bits);
    }
}

// Form selects the pairs of the matches of a row of the probe side.
//go:layout form
enum Form : u32 {
    // every_match makes a pair of each match.
    every_match,
    // every_match_or_none makes a pair with no_row for a row without a match, too.
    every_match_or_none,
    // any_match makes a pair with no_row for a row with a match, no_match for one without.
    any_match,
    no_match,
};

// pairs_of returns the number of pairs of a row with a number of matches.
DEVICE u32 pairs_of(u32 form, u32 matches) {
    return form == every_match ? matches : form == every_match_or_none && matches != 0 ? matches : (matches != 0) == (form == any_match);
}

// Sums are the rows that have pairs, in order: their numbers, the places of their first
// matches, no_row without one, and the number of pairs up to each.
//go:layout sumsLayout any
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

// sum_rows writes the sums of rows. A block takes a tile of them. find(firsts, counts, begin)
// writes the first matches and the numbers of matches of a thread's rows from begin on, each a
// warp after the other. outcome becomes the number of pairs, and that of rows with pairs.
template <typename Find> DEVICE void sum_rows(const Sums &out, u32 form, u64 n, u32 loads, u64 *outcome, void *state, Find find) {
    __shared__ Totals sums[match_warps], tile_before;
    __shared__ u32 firsts[match_rows], counts[match_rows];
    const Tile tile = next_tile(state, loads, n);
    const u32 lane = lane_in_warp(), own = tile.own();
    const u64 begin = tile.begin();
    Totals sum = {0, 0}, all;
    find(firsts + own, counts + own, begin);
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < loads; i++) {
        const u32 at = own + i * warp_threads, matches = counts[at];
        const u32 count = begin + i * warp_threads < n ? pairs_of(form, matches) : 0;
        if (matches == 0)
            firsts[at] = no_row;
        counts[at] = count;
        sum.pairs += count;
        sum.rows += __builtin_popcount(ballot(count != 0));
    }
    sum.pairs = warp_fold(sum.pairs, Sum<u64>());
    const Totals warps_before = block_fold_before<match_warps>(sum, sums, all, SumTotals());
    if (thread_in_block() < warp_threads) {
        const Totals before = before_tile(state, tile.number, all, SumTotals());
        if (lane == 0) {
            tile_before = before;
            if (tile.is_last()) {
                outcome[0] = before.pairs + all.pairs;
                outcome[1] = before.rows + all.rows;
            }
        }
    }
    synchronize_block();
    Totals to = SumTotals().fold(tile_before, warps_before);
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < loads; i++) {
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
