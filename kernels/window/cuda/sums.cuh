// Sums of the rows of a partition up to each row for words without nulls of a table in order:
// running.cuh with the same order of folds, in fewer instructions. A sum of no rows is the
// neutral element of the addition, so no state has a number of rows, and the heads of the
// lanes of a warp are one word.
#pragma once

#include "running.cuh"

// RunningSum is a sum of floats, or of integers in 128 bits.
template <u32 fold> struct RunningSum {
    u64 a, b;

    METHOD static RunningSum none() { return RunningSum{fold == fold_floats ? as_bits(-0.0) : 0, 0}; }
    METHOD static RunningSum of(u64 word, bool is_signed) { return RunningSum{word, fold == fold_integers && is_signed ? (u64)((i64)word >> 63) : 0}; }
    METHOD static RunningSum of(const State &s) { return s.n == 0 ? none() : RunningSum{s.a, s.b}; }
    METHOD RunningSum then(const RunningSum &y) const {
        if (fold == fold_floats)
            return RunningSum{as_bits(plus(as_float(a), as_float(y.a))), 0};
        const u64 low = a + y.a;
        return RunningSum{low, b + y.b + (low < a ? 1 : 0)};
    }
    METHOD RunningSum up(u32 delta) const { return RunningSum{shuffle_value_up(a, delta), fold == fold_integers ? shuffle_value_up(b, delta) : 0}; }
};

// running_sums writes the sum of the rows of the partition up to each row. tiles has, for each
// tile, the fold of the tiles of its group before it, and carries that of the groups before
// it; tiles is null for one tile. With only_fold the kernel writes the fold of each tile
// instead.
template <u32 fold>
DEVICE void running_sums(const Rows &rows, const u64 *values, Folding by, State *tiles, const State *carries, u32 only_fold, const Writing &to) {
    typedef RunningSum<fold> Sum;
    by.fold = fold;
    __shared__ u64 words[scan_rows + scan_rows / scan_loads];
    __shared__ u32 heads[scan_rows / 32];
    __shared__ Sum totals[over_warps];
    __shared__ u32 headed[over_warps];
    __shared__ u32 present[over_threads / 4]; // a byte for each thread
    const u64 n = rows.count(), begin = (u64)block_in_grid() * scan_rows;
    const u32 thread = thread_in_block(), lane = lane_in_warp(), warp = thread / warp_threads;
    const bool is_signed = by.signs() == class_signed;
    u64 from = 0;
    if (only_fold != 0 && begin < n)
        from = rows.begin(begin + scan_rows <= n ? begin + scan_rows - 1 : n - 1);
    if (thread < scan_rows / 32) {
        const u64 place = begin + 32 * thread;
        heads[thread] = place >= n ? 0 : rows.partitions.words != nullptr ? rows.partitions.words[place / 32].bits : place == 0;
    }
    u64 loaded[scan_loads];
#pragma unroll
    for (u32 i = 0; i < scan_loads; i++) {
        const u64 place = begin + i * over_threads + thread;
        loaded[i] = place >= from && place < n ? values[place] : Sum::none().a;
    }
#pragma unroll
    for (u32 i = 0; i < scan_loads; i++)
        words[banked(i * over_threads + thread)] = loaded[i];
    synchronize_block();

    const u32 own_heads = heads[thread / 4] >> thread % 4 * 8 & 0xff;
    u64 *const own = words + banked(thread * scan_loads);
    Sum s = Sum::none();
#pragma unroll
    for (u32 i = 0; i < scan_loads; i++) {
        const Sum x = Sum::of(own[i], is_signed);
        s = (own_heads >> i & 1) != 0 ? x : s.then(x);
    }
    const u32 lanes = ballot(own_heads != 0), upto = lanes & ~0u >> (31 - lane);
    const u32 start = upto == 0 ? 0 : 31 - __builtin_clz(upto);
#pragma unroll
    for (u32 delta = 1; delta < warp_threads; delta *= 2) {
        const Sum before = s.up(delta);
        if (lane >= start + delta)
            s = before.then(s);
    }
    if (lane == warp_threads - 1) {
        totals[warp] = s;
        headed[warp] = lanes != 0;
    }
    Sum previous = s.up(1);
    if (lane == 0)
        previous = Sum::none();
    synchronize_block();
    Sum earlier = Sum::none(), all = Sum::none();
    bool earlier_head = false, any_head = false;
#pragma unroll
    for (u32 i = 0; i < over_warps; i++) {
        if (i == warp) {
            earlier = all;
            earlier_head = any_head;
        }
        all = headed[i] != 0 ? totals[i] : all.then(totals[i]);
        any_head = any_head || headed[i] != 0;
    }
    if (only_fold != 0) {
        if (thread == 0)
            tiles[block_in_grid()] = State{all.a, all.b, 1, any_head};
        return;
    }
    const bool lane_head = (upto & ~(1u << lane)) != 0;
    s = lane_head ? previous : earlier.then(previous);
    if (tiles != nullptr && !lane_head && !earlier_head) {
        const State tile = tiles[block_in_grid()];
        const Sum within = Sum::of(tile), carried = Sum::of(carries[block_in_grid() / over_threads]);
        s = (tile.head != 0 ? within : carried.then(within)).then(s);
    }
    const u64 first = begin + thread * scan_loads;
    u32 count = first < n ? (u32)(first - rows.begin(first)) : 0, bits = 0;
#pragma unroll
    for (u32 i = 0; i < scan_loads; i++) {
        const Sum x = Sum::of(own[i], is_signed);
        const bool head = (own_heads >> i & 1) != 0;
        s = head ? x : s.then(x);
        count = head ? 1 : count + 1;
        bool ok;
        const u64 value = to.value(by, State{s.a, s.b, count, 0}, ok);
        own[i] = ok ? value : 0;
        bits |= (u32)ok << i;
    }
    ((u8 *)present)[thread] = (u8)bits;
    synchronize_block();
    u64 *const out = (u64 *)to.values;
#pragma unroll
    for (u32 i = 0; i < scan_loads; i++) {
        const u32 at = i * over_threads + thread;
        if (begin + at < n)
            out[begin + at] = words[banked(at)];
    }
    if (to.valid != nullptr && thread < scan_rows / 32 && begin + 32 * thread < n) {
        const u64 rest = n - (begin + 32 * thread);
        to.valid[begin / 32 + thread] = rest >= 32 ? present[thread] : present[thread] & (1u << rest) - 1;
    }
}
