#include "gpuframe.cuh"

// bitmap_count adds the number of one bits among n bits to a sum. The first bit is bit
// offset of the input.
KERNEL bitmap_count(u64 *__restrict__ sum, const u8 *__restrict__ bits, u64 offset, u64 n) {
    const u64 thread = thread_in_grid(), step = threads_per_grid();
    const u8 *from = bits + (offset >> 3);
    const u32 skip = offset & 7;
    const u64 bytes = (skip + n + 7) / 8;

    // Whole words between the first and the last 16-byte boundary, bytes around them.
    typedef Vector<u32, 4> Group;
    u64 head = -(u64)from & 15;
    if (head > bytes)
        head = bytes;
    const u64 groups = (bytes - head) / 16;
    u64 count = 0;
    for (u64 g = thread; g < groups; g += step) {
        const Group got = ((const Group *)(from + head))[g];
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            count += __builtin_popcount(got.lane[j]);
    }
    for (u64 i = thread; i < bytes - 16 * groups; i += step)
        count += __builtin_popcount(from[i < head ? i : i + 16 * groups]);

    // Subtracts the bits of the first and the last byte that are out of range. The sum
    // wraps, so one thread's count may be negative.
    if (thread == 0) {
        const u32 over = 8 * bytes - skip - n;
        count -= __builtin_popcount(from[0] & ((1 << skip) - 1));
        count -= __builtin_popcount(from[bytes - 1] >> (8 - over));
    }
#pragma unroll
    for (u32 delta = warp_threads / 2; delta > 0; delta /= 2)
        count += (u64)shuffle_down((u32)(count >> 32), delta) << 32 | shuffle_down((u32)count, delta);
    if (lane_in_warp() == 0 && count != 0)
        __atomic_fetch_add(sum, count, __ATOMIC_RELAXED);
}
