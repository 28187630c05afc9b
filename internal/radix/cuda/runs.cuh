// Runs of rows with equal leading digits, sorted by the digits that are left.
#pragma once

#include "plan.cuh"

// A run of more rows is left to the second round.
static constexpr u64 most_run = 32;

// Each warp reads 32 · run_loads rows at a time.
static constexpr u32 run_loads = 4;

// finish_run sorts the run that begins with a row by insertion.
template <typename Key, Payload payload> DEVICE void finish_run(const Call &call, u64 first, u64 n) {
    typedef typename Form<Key, payload>::Number Number;
    constexpr bool numbers = payload != nothing;
    Key *const keys = call.key<Key>(0);
    Number *const rows = call.rows<Number>(0);
    const u32 shift = call.plan->shift;
    const auto order = [&](Key key) { return call.field.of(call.encoding.encode_decoded(key)); };
    const Key prefix = order(keys[first]) >> shift;
    for (u64 row = first + 1; row < n; row++) {
        const Key key = keys[row], own = order(key);
        if (own >> shift != prefix)
            break;
        if (row - first >= most_run) {
            call.plan->long_runs = 1;
            break;
        }
        u64 to = row;
        while (to > first && own < order(keys[to - 1]))
            to--;
        if (to == row)
            continue;
        Number number = 0;
        if constexpr (numbers)
            number = rows[row];
        for (u64 j = row; j > to; j--) {
            keys[j] = keys[j - 1];
            if constexpr (numbers)
                rows[j] = rows[j - 1];
        }
        keys[to] = key;
        if constexpr (numbers)
            rows[to] = number;
    }
}

template <typename Key, Payload payload> DEVICE void finish_runs(const Call &call) {
    if (call.plan->finishing == 0)
        return;
    const u64 n = call.count();
    const u32 shift = call.plan->shift, lane = lane_in_warp();
    const Key *const keys = call.key<Key>(0);
    const auto prefix_of = [&](Key key) { return (Key)(call.field.of(call.encoding.encode_decoded(key)) >> shift); };
    // The thread of the first row of a run sorts the run. It changes no prefixes, so other
    // threads read the same ones before and after. All lanes of a warp stay in the loop.
    constexpr u64 step = run_loads * warp_threads;
    const u64 warp = thread_in_grid() / warp_threads, warps = threads_per_grid() / warp_threads;
    for (u64 begin = warp * step; begin < n; begin += warps * step) {
        Key key[run_loads];
#pragma unroll
        for (u32 i = 0; i < run_loads; i++) {
            const u64 row = begin + i * warp_threads + lane;
            key[i] = keys[row < n ? row : n - 1];
        }
#pragma unroll
        for (u32 i = 0; i < run_loads; i++) {
            const u64 row = begin + i * warp_threads + lane;
            const Key prefix = prefix_of(key[i]);
            Key before = shuffle_value_up(prefix, 1), after = shuffle_value_down(prefix, 1);
            if (lane == 0 && row > 0 && row < n)
                before = prefix_of(keys[row - 1]);
            if (lane == warp_threads - 1 && row + 1 < n)
                after = prefix_of(keys[row + 1]);
            if (row + 1 < n && after == prefix && (row == 0 || before != prefix))
                finish_run<Key, payload>(call, row, n);
            synchronize_warp();
        }
    }
}
