// Appends integers that refer to appended data.
#pragma once

#include "rows.cuh"

// rebase adds a number to integers, so that they refer to data that was appended to
// other data. Integers under a null are undefined: those that are not below limit
// become 0.
template <typename T> DEVICE void rebase(T *out, const T *__restrict__ from, u64 n, u64 add, u64 limit) {
    for (u64 i = thread_in_grid(), step = threads_per_grid(); i < n; i += step)
        out[i] = (u64)from[i] < limit ? from[i] + (T)add : 0;
}

KERNEL rebase_1(u8 *out, const u8 *from, u64 n, u64 add, u64 limit) { rebase(out, from, n, add, limit); }
KERNEL rebase_2(u16 *out, const u16 *from, u64 n, u64 add, u64 limit) { rebase(out, from, n, add, limit); }
KERNEL rebase_4(u32 *out, const u32 *from, u64 n, u64 add, u64 limit) { rebase(out, from, n, add, limit); }
KERNEL rebase_8(u64 *out, const u64 *from, u64 n, u64 add, u64 limit) { rebase(out, from, n, add, limit); }

// rebase_views adds to the data buffer numbers of binary views, except views that hold
// their bytes inline.
KERNEL rebase_views(u32 *out, const u32 *__restrict__ from, u64 n, u32 add) {
    for (u64 i = thread_in_grid(), step = threads_per_grid(); i < n; i += step) {
        const u32 length = from[4 * i];
        out[4 * i] = length;
        out[4 * i + 1] = from[4 * i + 1];
        out[4 * i + 2] = from[4 * i + 2] + ((i32)length > 12 ? add : 0);
        out[4 * i + 3] = from[4 * i + 3];
    }
}
