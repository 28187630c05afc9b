// Appends bits to bits.
#pragma once

#include "rows.cuh"

// copy_bits copies n bits, starting at bit offset of the input, to bit position of the
// output. Without an input it sets all n bits. It keeps the output's bits before
// position and clears those after the last bit in its word, so pieces can be appended
// in order. Each thread writes one word.
KERNEL LAUNCH_BOUNDS(block_threads)
    copy_bits(u32 *out, u64 position, const u8 *__restrict__ bits, u64 offset, u64 n) {
    const u64 word = position / 32 + thread_in_grid();
    if (n == 0 || word * 32 >= position + n)
        return;
    const u64 begin = word * 32 < position ? position : word * 32;
    const u64 end = position + n < word * 32 + 32 ? position + n : word * 32 + 32;
    const u32 count = end - begin, ahead = begin - word * 32;
    u64 got = none;
    if (bits != nullptr) {
        const u64 from = offset + (begin - position);
        const u32 shift = from & 7, bytes = (shift + count + 7) / 8;
        const u8 *at = bits + (from >> 3);
        got = 0;
#pragma unroll
        for (u32 b = 0; b < 5; b++)
            if (b < bytes)
                got |= (u64)at[b] << 8 * b;
        got >>= shift;
    }
    got &= (1ull << count) - 1;
    u32 before = 0;
    if (ahead != 0)
        before = out[word] & ((1u << ahead) - 1);
    out[word] = before | (u32)(got << ahead);
}
