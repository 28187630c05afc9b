// Runs of rows with equal leading digits, sorted by the digits that are left.
#pragma once

#include "plan.cuh"

// A run of more rows is left to the second round.
static constexpr u64 most_run = 32;

template <typename Key, bool numbers> DEVICE void finish_runs(const Call &call) {
    Plan &plan = *call.plan;
    if (plan.finishing == 0)
        return;
    const u64 n = call.count();
    const u32 shift = plan.shift;
    Key *const keys = call.key<Key>(0);
    u32 *const rows = call.rows0;
    const auto order = [&](Key key) { return call.field.of(call.encoding.encode(key)); };
    // The thread of the first row of a run sorts the run by insertion. It changes no
    // prefixes, so threads of other runs read the same ones before and after.
    for (u64 i = thread_in_grid(); i + 1 < n; i += threads_per_grid()) {
        const Key prefix = order(keys[i]) >> shift;
        if (order(keys[i + 1]) >> shift != prefix || i > 0 && order(keys[i - 1]) >> shift == prefix)
            continue;
        for (u64 row = i + 1; row < n; row++) {
            const Key key = keys[row], own = order(key);
            if (own >> shift != prefix)
                break;
            if (row - i >= most_run) {
                plan.long_runs = 1;
                break;
            }
            u64 to = row;
            while (to > i && own < order(keys[to - 1]))
                to--;
            if (to == row)
                continue;
            u32 number = 0;
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
}
