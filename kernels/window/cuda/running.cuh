// Folds of the rows of a partition up to each row, in tiles: one kernel folds each tile, one
// block scans the folds of the tiles, and the first kernel folds the rows again and writes
// the results.
#pragma once

#include "over.cuh"

// A tile of the cumulative kernels: each thread has consecutive rows.
static constexpr u32 scan_loads = 8, scan_rows = over_threads * scan_loads;

// fold_steps is the number of rows that the loops over the rows of a thread unroll: a fold
// that is known at run time is too long.
template <u32 fold> static constexpr u32 fold_steps = fold == any_fold ? 1 : scan_loads;

// Words of consecutive threads are in different banks.
DEVICE u32 banked(u32 at) { return at + at / scan_loads; }

// ScanTile is the rows of a tile in shared memory.
struct ScanTile {
    u64 words[scan_rows + scan_rows / scan_loads];
    u32 valid[scan_rows / 32], heads[scan_rows / 32];

    // load loads the rows from place from on; those before it have no value. Loads of words of
    // a table in order are in flight together.
    METHOD void load(const Rows &rows, const Values &values, const Folding &by, u64 begin, u64 from, u64 n, bool whole) {
        const u32 thread = thread_in_block();
        if (thread < scan_rows / 32) {
            const u64 place = begin + 32 * thread;
            const u32 inside = place >= n ? 0 : n - place >= 32 ? ~0u : (1u << (n - place)) - 1;
            const u32 head = whole || rows.partitions.words == nullptr ? place == 0 : rows.partitions.words[place / 32].bits;
            heads[thread] = head & inside;
            if (values.valid == nullptr)
                valid[thread] = place + 32 <= from ? 0 : place >= from ? inside : inside & ~0u << (from - place);
        }
        if (rows.listed == nullptr && values.values != nullptr && by.format % 4 == 3) {
            const u64 *const from_words = (const u64 *)values.values;
            u64 word[scan_loads];
#pragma unroll
            for (u32 i = 0; i < scan_loads; i++) {
                const u64 place = begin + i * over_threads + thread;
                word[i] = place >= from && place < n ? from_words[place] : 0;
            }
#pragma unroll
            for (u32 i = 0; i < scan_loads; i++)
                words[banked(i * over_threads + thread)] = word[i];
        } else {
#pragma unroll 2
            for (u32 i = 0; i < scan_loads; i++) {
                const u32 at = i * over_threads + thread;
                const u64 place = begin + at;
                words[banked(at)] = place >= from && place < n ? values.raw(by.format, rows.row(place)) : 0;
            }
        }
        if (values.valid != nullptr) {
#pragma unroll
            for (u32 i = 0; i < scan_loads; i++) {
                const u32 at = i * over_threads + thread;
                const u64 place = begin + at;
                const u32 bits = ballot(place >= from && place < n && values.is_valid(rows.row(place)));
                if (at % 32 == 0)
                    valid[at / 32] = bits;
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
// the number of values up to each place, and the place of each value. factors are those of fold_linear. tiles has, for
// each tile, the fold of the tiles of its group before it, and carries that of the groups
// before it; tiles is null for one tile. With only_fold the kernel writes the
// fold of each tile to it instead. whole ignores the partitions.
template <u32 fold>
DEVICE void running_folds(const Rows &rows, const Values &values, Folding by, State *tiles, const State *carries, u32 only_fold, u32 whole, const Writing &to, u32 *counts, u32 *places, const u64 *factors = nullptr) {
    if (fold != any_fold)
        by.fold = fold;
    __shared__ ScanTile tile;
    __shared__ State warps[over_warps];
    __shared__ u8 present[scan_rows];
    const u64 n = rows.count(), begin = (u64)block_in_grid() * scan_rows;
    const u32 first = thread_in_block() * scan_loads;
    const Segmented f{by};
    // The fold of a tile is that of the rows from its last head on.
    u64 from = 0;
    if (only_fold != 0 && whole == 0 && begin < n)
        from = rows.begin(begin + scan_rows <= n ? begin + scan_rows - 1 : n - 1);
    tile.load(rows, values, by, begin, from, n, whole != 0);
    const auto state_at = [&](u32 at) {
        State own = tile.state(by, at);
        if (fold == fold_linear && begin + at < n)
            own.b = factors[rows.row(begin + at)];
        return own;
    };
    State s = f.none(), total;
#pragma unroll fold_steps<fold>
    for (u32 i = 0; i < scan_loads; i++)
        s = f.fold(s, state_at(first + i));
    s = before_thread(s, warps, total, f);
    if (only_fold != 0) {
        if (thread_in_block() == 0)
            tiles[block_in_grid()] = total;
        return;
    }
    if (tiles != nullptr)
        s = f.fold(f.fold(carries[block_in_grid() / over_threads], tiles[block_in_grid()]), s);
#pragma unroll fold_steps<fold>
    for (u32 i = 0; i < scan_loads; i++) {
        const u32 at = first + i;
        const State own = state_at(at);
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
#pragma unroll fold_steps<fold>
    for (u32 i = 0; i < scan_loads; i++) {
        const u32 at = i * over_threads + thread_in_block();
        store_places(rows, to, begin + at, n, tile.words[banked(at)], present[at] != 0);
    }
}

// running_tiles replaces the folds of tiles by those of the tiles before in their group, which
// is that of a block, and writes the fold of each group to carries.
template <u32 fold> DEVICE void running_tiles(Folding by, State *tiles, State *carries, u32 count) {
    if (fold != any_fold)
        by.fold = fold;
    __shared__ State warps[over_warps];
    const Segmented f{by};
    const u32 at = block_in_grid() * over_threads + thread_in_block();
    State total;
    const State before = before_thread(at < count ? tiles[at] : f.none(), warps, total, f);
    if (at < count)
        tiles[at] = before;
    if (thread_in_block() == 0)
        carries[block_in_grid()] = total;
}

// running_carries replaces the folds of groups by those of all groups before, in sequence, in
// one block.
template <u32 fold> DEVICE void running_carries(Folding by, State *carries, u32 count) {
    if (fold != any_fold)
        by.fold = fold;
    __shared__ State some[over_threads];
    const Segmented f{by};
    State carried = f.none();
#pragma unroll 1
    for (u32 begin = 0; begin < count; begin += over_threads) {
        const u32 at = begin + thread_in_block();
        if (at < count)
            some[thread_in_block()] = carries[at];
        synchronize_block();
        if (thread_in_block() == 0) {
#pragma unroll 1
            for (u32 i = 0; i < over_threads && begin + i < count; i++) {
                const State own = some[i];
                some[i] = carried;
                carried = f.fold(carried, own);
            }
        }
        synchronize_block();
        if (at < count)
            carries[at] = some[thread_in_block()];
        synchronize_block();
    }
}
