// Folds of the rows of a partition up to each row, in tiles: one kernel folds each tile, one
// block scans the folds of the tiles, and the first kernel folds the rows again and writes
// the results.
#pragma once

#include "over.cuh"

// A tile of the cumulative kernels: each thread has consecutive rows.
static constexpr u32 scan_loads = 8, scan_rows = over_threads * scan_loads;

// Words of consecutive threads are in different banks.
DEVICE u32 banked(u32 at) { return at + at / scan_loads; }

// ScanTile is the rows of a tile in shared memory.
struct ScanTile {
    u64 words[scan_rows + scan_rows / scan_loads];
    u32 valid[scan_rows / 32], heads[scan_rows / 32];

    METHOD void load(const Rows &rows, const Values &values, const Folding &by, u64 begin, u64 n, bool whole) {
#pragma unroll
        for (u32 i = 0; i < scan_loads; i++) {
            const u32 at = i * over_threads + thread_in_block();
            const u64 place = begin + at;
            bool valid = false, head = false;
            u64 word = 0;
            if (place < n) {
                const u64 row = rows.row(place);
                valid = values.is_valid(row);
                head = !whole && rows.is_head(place);
                if (valid)
                    word = values.raw(by.format, row);
            }
            words[banked(at)] = word;
            const u32 valid_bits = ballot(valid), head_bits = ballot(head);
            if (at % 32 == 0) {
                this->valid[at / 32] = valid_bits;
                heads[at / 32] = head_bits;
            }
        }
        synchronize_block();
    }

    METHOD State state(const Folding &by, u32 at) const {
        State s = by.of(words[banked(at)], (valid[at / 32] >> at % 32 & 1) != 0);
        s.head = heads[at / 32] >> at % 32 & 1;
        return s;
    }
};

// state_up returns the state of the lane with the number lower by delta.
DEVICE State state_up(const State &s, u32 delta, const Segmented &f) {
    return State{shuffle_value_up(s.a, delta), f.by.is_wide() ? shuffle_value_up(s.b, delta) : 0, shuffle_value_up(s.n, delta), shuffle_value_up(s.head, delta)};
}

// before_thread returns the fold of the values of the threads before the calling one, in
// order, and in total that of all threads. The order is that of warp_scan within a warp,
// and warps in sequence. The loops are not unrolled because a fold is long.
DEVICE State before_thread(const State &own, State *shared, State &total, const Segmented &f) {
    const u32 lane = lane_in_warp(), warp = thread_in_block() / warp_threads;
    State scanned = own;
#pragma unroll 1
    for (u32 delta = 1; delta < warp_threads; delta *= 2) {
        const State before = state_up(scanned, delta, f);
        if (lane >= delta)
            scanned = f.fold(before, scanned);
    }
    if (lane == warp_threads - 1)
        shared[warp] = scanned;
    synchronize_block();
    State before = f.none(), all = f.none();
#pragma unroll 1
    for (u32 i = 0; i < over_warps; i++) {
        if (i == warp)
            before = all;
        all = f.fold(all, shared[i]);
    }
    synchronize_block();
    total = all;
    const State previous = state_up(scanned, 1, f);
    return f.fold(before, lane == 0 ? f.none() : previous);
}

// running_folds writes the fold of the rows of the partition up to each row or, with counts,
// the number of values up to each place, and the place of each value. tiles has the fold of
// the tiles before each one; it is null for one tile. With only_fold the kernel writes the
// fold of each tile to it instead. whole ignores the partitions.
template <u32 fold>
DEVICE void running_folds(const Rows &rows, const Values &values, Folding by, State *tiles, u32 only_fold, u32 whole, const Writing &to, u32 *counts, u32 *places) {
    if (fold != any_fold)
        by.fold = fold;
    __shared__ ScanTile tile;
    __shared__ State warps[over_warps];
    __shared__ u8 present[scan_rows];
    const u64 n = rows.count(), begin = (u64)block_in_grid() * scan_rows;
    const u32 first = thread_in_block() * scan_loads;
    const Segmented f{by};
    tile.load(rows, values, by, begin, n, whole != 0);
    State s = f.none(), total;
#pragma unroll 1
    for (u32 i = 0; i < scan_loads; i++)
        s = f.fold(s, tile.state(by, first + i));
    s = before_thread(s, warps, total, f);
    if (only_fold != 0) {
        if (thread_in_block() == 0)
            tiles[block_in_grid()] = total;
        return;
    }
    if (tiles != nullptr)
        s = f.fold(tiles[block_in_grid()], s);
#pragma unroll 1
    for (u32 i = 0; i < scan_loads; i++) {
        const u32 at = first + i;
        const State own = tile.state(by, at);
        s = f.fold(s, own);
        if (fold == any_fold && counts != nullptr) {
            const u64 place = begin + at;
            if (place < n) {
                counts[place] = s.n;
                if (own.n != 0)
                    places[s.n - 1] = (u32)place;
            }
            continue;
        }
        bool ok;
        tile.words[banked(at)] = to.value(by, s, ok);
        present[at] = ok;
    }
    if (fold == any_fold && counts != nullptr)
        return;
    synchronize_block();
#pragma unroll 1
    for (u32 i = 0; i < scan_loads; i++) {
        const u32 at = i * over_threads + thread_in_block();
        store_places(rows, to, begin + at, n, tile.words[banked(at)], present[at] != 0);
    }
}

// running_tiles replaces the folds of tiles by those of all tiles before, in one block.
template <u32 fold> DEVICE void running_tiles(Folding by, State *tiles, u32 count) {
    if (fold != any_fold)
        by.fold = fold;
    __shared__ State warps[over_warps];
    const Segmented f{by};
    State carried = f.none();
#pragma unroll 1
    for (u32 begin = 0; begin < count; begin += over_threads) {
        const u32 at = begin + thread_in_block();
        State total;
        const State before = before_thread(at < count ? tiles[at] : f.none(), warps, total, f);
        if (at < count)
            tiles[at] = f.fold(carried, before);
        carried = f.fold(carried, total);
    }
}
