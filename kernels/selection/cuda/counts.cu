#include "rows.cuh"

// scale_rows writes a row count: another count times size, plus more, but at most most.
KERNEL scale_rows(i64 *out, const i64 *rows, u64 capacity, u64 size, u64 more, u64 most) {
    const u64 count = count_of(rows, capacity) * size + more;
    if (thread_in_grid() == 0)
        *out = count < most ? count : most;
}
