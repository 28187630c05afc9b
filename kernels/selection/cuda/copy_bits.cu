#include "rows.cuh"

// copy_bits writes n bits, the first of which is bit offset of the input, from bit
// position on of the output; without an input all of them are set. The bits ahead
// stay, those behind the last in its word become 0, so pieces are put together one
// after the other. A thread writes a word.
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
