// Prepares indices and row counts for the other kernels.
#pragma once

#include "rows.cuh"

// widen converts narrower indices to 32 bits; negative indices stay negative.
template <typename T> DEVICE void widen(u32 *out, const T *__restrict__ narrow, u64 n) {
    for (u64 i = thread_in_grid(), step = threads_per_grid(); i < n; i += step)
        out[i] = (u32)(i32)narrow[i];
}

KERNEL widen_i8(u32 *out, const i8 *narrow, u64 n) { widen(out, narrow, n); }
KERNEL widen_u8(u32 *out, const u8 *narrow, u64 n) { widen(out, narrow, n); }
KERNEL widen_i16(u32 *out, const i16 *narrow, u64 n) { widen(out, narrow, n); }
KERNEL widen_u16(u32 *out, const u16 *narrow, u64 n) { widen(out, narrow, n); }

// scale_rows writes a row count: another count times size, plus more, but at most most.
KERNEL scale_rows(i64 *out, const i64 *rows, u64 capacity, u64 size, u64 more, u64 most) {
    const u64 count = count_of(rows, capacity) * size + more;
    if (thread_in_grid() == 0)
        *out = count < most ? count : most;
}
