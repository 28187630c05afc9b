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

// finish_pair sorts a run of two rows.
template <typename Key, Payload payload> DEVICE void finish_pair(const Call &call, u64 first) {
    typedef typename Form<Key, payload>::Number Number;
    Key *const keys = call.key<Key>(0) + first;
    const Key key = keys[0];
    keys[0] = keys[1];
    keys[1] = key;
    if constexpr (payload != nothing) {
        Number *const rows = call.rows<Number>(0) + first;
        const Number number = rows[0];
        rows[0] = rows[1];
        rows[1] = number;
    }
}

template <typename Key, Payload payload> DEVICE void finish_runs(const Call &call) {
    if (call.plan->finishing == 0)
        return;
    const u64 n = call.count();
    const u32 shift = call.plan->shift, lane = lane_in_warp();
    const Key *const keys = call.key<Key>(0);
    const auto order = [&](u64 row) { return call.field.of(call.encoding.encode_decoded(keys[row < n ? row : n - 1])); };
    // The thread of the first row of a run sorts the run. It changes no prefixes, so other
    // threads read the same ones before and after. All lanes of a warp stay in the loop.
    constexpr u64 step = run_loads * warp_threads;
    const u64 warp = thread_in_grid() / warp_threads, warps = threads_per_grid() / warp_threads;
    for (u64 begin = warp * step; begin < n; begin += warps * step) {
        // Load i has the rows begin + 32 · i + lane. The last one has, for the first lanes, the
        // two rows behind those, and the row before.
        Key own[run_loads + 1];
#pragma unroll
        for (u32 i = 0; i < run_loads; i++)
            own[i] = order(begin + i * warp_threads + lane);
        own[run_loads] = order(lane < 2 ? begin + step + lane : begin > 0 ? begin - 1 : 0);
        // Bit l of alike[i + 1] is set if the row of lane l has the prefix of the next row.
        u32 alike[run_loads + 2], smaller[run_loads];
        const Key before = shuffle_value(own[run_loads], 2), behind = shuffle_value(own[run_loads], 1);
        alike[0] = begin > 0 && (before ^ shuffle_value(own[0], 0)) >> shift == 0 ? 1u << 31 : 0;
        alike[run_loads + 1] = begin + step + 1 < n && (shuffle_value(own[run_loads], 0) ^ behind) >> shift == 0;
#pragma unroll
        for (u32 i = 0; i < run_loads; i++) {
            const Key next = shuffle_value(lane == 0 ? own[i + 1] : own[i], lane + 1 & warp_threads - 1);
            alike[i + 1] = ballot(begin + i * warp_threads + lane + 1 < n && (next ^ own[i]) >> shift == 0);
            smaller[i] = next < own[i];
        }
        u32 longer = 0; // the loads with a run of more than two rows
#pragma unroll
        for (u32 i = 0; i < run_loads; i++) {
            const u32 heads = alike[i + 1] & ~(alike[i + 1] << 1 | alike[i] >> 31);
            const u32 beyond = alike[i + 1] >> 1 | alike[i + 2] << 31;
            if ((heads >> lane & 1) == 0)
                continue;
            if ((beyond >> lane & 1) != 0)
                longer |= 1u << i;
            else if (smaller[i])
                finish_pair<Key, payload>(call, begin + i * warp_threads + lane);
        }
        while (longer != 0) {
            const u32 i = __builtin_ctz(longer);
            finish_run<Key, payload>(call, begin + i * warp_threads + lane, n);
            longer &= longer - 1;
        }
        synchronize_warp();
    }
}
