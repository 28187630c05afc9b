// Copies by a warp of bytes that do not fit a batch of pieces.
#pragma once
#include "page.cuh"

static constexpr u32 short_copy = 128;

// copy_bytes copies bytes by all lanes. The two ranges must not overlap.
DEVICE void copy_bytes(u8 *to, const u8 *from, u32 n, u32 lane) {
    if (n < short_copy) {
        for (u32 i = lane; i < n; i += warp_threads)
            to[i] = from[i];
        return;
    }
    // Words of the output are aligned. Each comes from two words of the input, all bytes of
    // which are among those to copy: a few bytes at both ends are copied apart.
    const u32 head = (0 - (u32)(u64)to & 3) + 4, words = (n - head - 8) / 4, body = head + words * 4;
    const u32 shift = (u32)(u64)(from + head) % 4 * 8;
    const u32 *source = (const u32 *)((u64)(from + head) & ~(u64)3);
    u32 *target = (u32 *)(to + head);
    constexpr u32 unrolled = 4;
    u32 i = lane;
    for (; i + (unrolled - 1) * warp_threads < words; i += unrolled * warp_threads) {
        u32 value[unrolled];
#pragma unroll
        for (u32 k = 0; k < unrolled; k++) {
            const u32 at = i + k * warp_threads;
            value[k] = (u32)(((u64)source[at + 1] << 32 | source[at]) >> shift);
        }
#pragma unroll
        for (u32 k = 0; k < unrolled; k++)
            target[i + k * warp_threads] = value[k];
    }
    for (; i < words; i += warp_threads)
        target[i] = (u32)(((u64)source[i + 1] << 32 | source[i]) >> shift);
    if (lane < head)
        to[lane] = from[lane];
    if (lane < n - body)
        to[body + lane] = from[body + lane];
}

// copy_match writes n bytes that repeat those which begin distance before them. Earlier writes
// of the warp must be synchronized; those of copy_match are.
DEVICE void copy_match(u8 *to, u32 distance, u32 n, u32 lane) {
    const u8 *from = to - distance;
    u32 copied = 0;
    if (distance < short_copy && distance < n) {
        // Whole periods, until they are long enough for words.
        copied = least(n, short_copy / distance * distance);
        for (u32 i = lane; i < copied; i += warp_threads)
            to[i] = from[i % distance];
        synchronize_warp();
    }
    // The bytes from `from` on are whole periods, and twice their number after each copy.
    while (copied < n) {
        const u32 part = least(n - copied, copied + distance);
        copy_bytes(to + copied, from, part, lane);
        copied += part;
        synchronize_warp();
    }
}
