// Takes rows of run-end encoded columns.
#pragma once

#include "rows.cuh"

// take_runs writes the run of each row: the first run with an end beyond the row. Run
// ends count from the beginning of the column's memory, offset elements before its
// first row.
template <typename T> DEVICE void take_runs(u64 *out, const T *__restrict__ ends, u64 runs, u64 offset, const Any &source) {
    const u64 i = thread_in_grid();
    if (i >= source.capacity)
        return;
    u64 index[1];
    bool ok[1];
    read<1>(source, i, 0, 0, index, ok);
    u64 low = none;
    if (ok[0]) {
        const u64 position = offset + index[0];
        low = 0;
        for (u64 high = runs; low < high;) {
            const u64 middle = low + (high - low) / 2;
            if ((u64)ends[middle] <= position)
                low = middle + 1;
            else
                high = middle;
        }
    }
    out[i] = low;
}

#define TAKE_RUNS(width, T)                                                                                            \
    KERNEL LAUNCH_BOUNDS(block_threads) take_runs_##width(u64 *out, const T *ends, u64 runs, u64 offset, ANY_SOURCE) { \
        take_runs(out, ends, runs, offset, any(GIVEN_ANY));                                                   \
    }                                                                                                                  \
    KERNEL count_runs_##width(T *out, u64 n) {                                                                         \
        for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())                                                 \
            out[i] = i + 1;                                                                                            \
    }
