// Finds sums of floats that fixed_point.go made inexact.
#include "states.cuh"

// find_inexact sets a flag if a state has dropped a bin of a window. States are stride words apart.
KERNEL find_inexact(u32 *found, const u64 *states, u64 stride, const i64 *groups, i64 most_groups) {
    const u64 known = device_rows(groups, most_groups);
    if (const u64 group = thread_in_grid(); group < known && (states[group * stride + sum_flags] & flag_inexact) != 0)
        *found = 1;
}
