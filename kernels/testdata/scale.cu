// The kernel of the walk-through in docs/kernels.md.
#include "gpuframe.cuh"

// scale writes factor * in to out, for n values. Its threads loop over the grid, so
// any number of blocks does.
KERNEL scale(f64 *out, const f64 *in, u64 n, f64 factor) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid())
        out[i] = factor * in[i];
}

// Range is passed by value.
struct Range {
    f64 low, high;
};

// clamp keeps values within a range.
KERNEL clamp(f64 *values, u64 n, Range range) {
    for (u64 i = thread_in_grid(); i < n; i += threads_per_grid()) {
        f64 value = values[i];
        values[i] = value < range.low ? range.low : value > range.high ? range.high : value;
    }
}
