#pragma once
#include "search.cuh"

// check_valid adds the number of one bits among n bits to the result's first word.
KERNEL check_valid(const u8 *__restrict__ bits, u64 offset, u64 n, Result *result) {
    typedef Vector<u32, 4> Group;
    constexpr u32 batch = 4;
    const u64 thread = thread_in_grid(), step = threads_per_grid();
    // The first and the last byte count in part.
    const u8 *from = bits + (offset >> 3);
    const u32 skip = offset & 7;
    const u64 bytes = (skip + n + 7) / 8;
    const Groups groups = groups_of(from, bytes, 1, true);
    const Group *body = (const Group *)(from + groups.head);
    // All bytes are counted whole, and the excess bits are subtracted.
    u64 count = 0;
#pragma nounroll
    for (u64 g = thread; g < groups.count; g += batch * step) {
        Group got[batch];
#pragma unroll
        for (u32 b = 0; b < batch; b++) {
            const u64 at = g + b * step;
            got[b] = body[at < groups.count ? at : g];
        }
#pragma unroll
        for (u32 b = 0; b < batch; b++) {
            u32 here = 0;
#pragma unroll
            for (u32 j = 0; j < 4; j++)
                here += __builtin_popcount(got[b].lane[j]);
            count += g + b * step < groups.count ? here : 0;
        }
    }
#pragma nounroll
    for (u64 r = thread; r < bytes - 16 * groups.count; r += step)
        count += __builtin_popcount(from[r < groups.head ? r : r + 16 * groups.count]);
    if (thread == 0) {
        const u32 over = 8 * bytes - skip - n; // bits of the last byte beyond the end
        count -= __builtin_popcount(from[0] & ((1 << skip) - 1));
        count -= __builtin_popcount(from[bytes - 1] >> (8 - over));
    }
    // Blocks are whole warps. The count of thread 0 may be negative after the
    // subtraction; the sum of all threads is not, since sums wrap around.
#pragma nounroll
    for (u32 delta = warp_threads / 2; delta > 0; delta /= 2)
        count += (u64)shuffle_down((u32)(count >> 32), delta) << 32 | shuffle_down((u32)count, delta);
    if (lane_in_warp() == 0 && count != 0)
        __atomic_fetch_add(&result->first, count, __ATOMIC_RELAXED);
}
