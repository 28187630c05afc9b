// Runs of rows with equal words, which the next words put in order.
#pragma once

#include "lookback.cuh"
#include "warprows.cuh"

static constexpr u32 tie_threads = 256, tie_warps = tie_threads / warp_threads, tie_loads = 8;
static constexpr u32 tie_rows = tie_threads * tie_loads; // Go's tieRows

// The place of a run in a tail: see rowkey.cu.
static constexpr u64 at_length = ~0ull, at_end = ~0ull - 1;

// Ties are rows in runs of two or more with equal words so far, in order.
//go:layout tiesLayout any
struct Ties {
    u32 *slots;  // where the row is in the order of all rows
    u32 *rows;   // the row
    u32 *runs;   // the number of its run
    u32 *firsts; // for each run its first tie
    u64 *places; // for each run its place in the tail
};

// Totals are zero at the start.
struct Totals {
    u64 ties, runs;
    u64 unfinished; // ties in runs that have not reached the end of the tail
};

// WordsInOrder are the words of rows in order. The rows are all rows if slots is null, otherwise
// ties; runs and places may be null.
template <typename Word> struct WordsInOrder {
    const Word *words;
    const i64 *counted;
    i64 capacity;
    Ties from;
    u64 first_place; // if places is null
    u64 step;        // the length of a word of a tail
    u32 drop;        // 1 to drop the runs at the end of the tail

    METHOD u64 count() const { return device_rows(counted, capacity); }
    METHOD u64 place(u64 i) const {
        if (from.places == nullptr)
            return first_place;
        const u64 place = from.places[from.runs[i]];
        return place < at_end ? place + step : at_end;
    }
};

// find_ties finds the runs of equal words within runs. Without memory for the result it
// only counts them.
template <typename Word> DEVICE void find_ties(const WordsInOrder<Word> &in, const Ties &out, Totals *totals, void *state) {
    __shared__ u64 sums[tie_warps], tile_before;
    __shared__ u32 ticket;
    if (thread_in_block() == 0)
        ticket = take_tile(state);
    synchronize_block();
    const u32 tile = ticket, lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    const u64 n = in.count(), begin = (u64)tile * tie_rows + warp * (tie_loads * warp_threads) + lane;
    u32 tied[tie_loads], heads[tie_loads], finished = 0;
    u64 sum = 0;
#pragma unroll
    for (u32 i = 0; i < tie_loads; i++) {
        const u64 at = begin + i * warp_threads;
        bool before = false, after = false;
        if (at < n) {
            const Word word = in.words[at];
            before = at > 0 && in.words[at - 1] == word;
            after = at + 1 < n && in.words[at + 1] == word;
            if ((before || after) && in.from.runs != nullptr) {
                const u32 run = in.from.runs[at];
                before = before && in.from.runs[at - 1] == run;
                after = after && in.from.runs[at + 1] == run;
            }
        }
        const bool ended = (before || after) && in.place(at) == at_end;
        if (ended && in.drop)
            before = after = false;
        tied[i] = ballot(before || after);
        heads[i] = ballot(after && !before);
        finished += __builtin_popcount(ballot(ended && !in.drop));
        sum += (u64)__builtin_popcount(tied[i]) << 32 | __builtin_popcount(heads[i]);
    }
    u64 all;
    u64 own = block_fold_before<tie_warps>(sum, sums, all, Sum<u64>());
    if (warp == 0) {
        const u64 before = before_tile(state, tile, all, Sum<u64>());
        if (lane == 0) {
            tile_before = before;
            const u64 total = before + all;
            if (((u64)tile + 1) * tie_rows >= n && (u64)tile * tie_rows < n) {
                totals->ties = total >> 32;
                totals->runs = (u32)total;
            }
        }
    }
    if (lane == 0 && sum >> 32 != finished)
        __nvvm_atom_add_gen_ll((long long *)&totals->unfinished, (sum >> 32) - finished);
    if (out.slots == nullptr)
        return;
    synchronize_block();
    own += tile_before;
    u32 ties = own >> 32, runs = (u32)own;
#pragma unroll
    for (u32 i = 0; i < tie_loads; i++) {
        const u32 below = (1u << lane) - 1;
        if ((tied[i] >> lane & 1) != 0) {
            const u64 at = begin + i * warp_threads;
            const u32 to = ties + __builtin_popcount(tied[i] & below);
            const bool head = (heads[i] >> lane & 1) != 0;
            const u32 run = runs + __builtin_popcount(heads[i] & below) - !head;
            out.slots[to] = in.from.slots != nullptr ? in.from.slots[at] : (u32)at;
            out.rows[to] = in.from.rows[at];
            out.runs[to] = run;
            if (head) {
                out.firsts[run] = to;
                out.places[run] = in.place(at);
            }
        }
        ties += __builtin_popcount(tied[i]);
        runs += __builtin_popcount(heads[i]);
    }
}
