#include "gpuframe.cuh"

// spread expands the low four bits of a word to four bytes of 0 or 1, the lowest bit
// first. The multiplication puts a copy of the bits at 0, 7, 14 and 21, so that bit i
// of copy i is at bit 8i.
DEVICE u32 spread(u32 bits) { return (bits & 0xf) * 0x00204081 & 0x01010101; }

// gather packs four bytes into four bits, the first byte lowest: 1 for any byte that is
// not zero.
DEVICE u32 gather(u32 bytes) {
    // Adding 0x7f carries into a byte's top bit if any lower bit is set.
    const u32 nonzero = (((bytes & 0x7f7f7f7f) + 0x7f7f7f7f | bytes) & 0x80808080) >> 7;
    // Bits 28 to 31 of the product are those of the four bytes. The sums below them do
    // not carry, because no two partial products share a bit.
    return nonzero * 0x10204080 >> 28;
}

DEVICE u8 bit_at(const u8 *bits, u64 i) { return bits[i >> 3] >> (i & 7) & 1; }

// bitmap_expand writes n bits as bytes of 0 or 1. The first bit is bit offset of the
// input.
KERNEL bitmap_expand(u8 *__restrict__ out, const u8 *__restrict__ bits, u64 offset, u64 n) {
    const u64 first = thread_in_grid(), step = threads_per_grid();

    // Bytes before the first and after the last 16-byte boundary of the output are
    // written one at a time.
    u64 head = -(u64)out & 15;
    if (head > n)
        head = n;
    for (u64 i = first; i < head; i += step)
        out[i] = bit_at(bits, offset + i);

    typedef Vector<u32, 4> Group;
    const u64 groups = (n - head) / 16;
    for (u64 g = first; g < groups; g += step) {
        const u64 at = offset + head + 16 * g;
        const u32 shift = at & 7;
        const u8 *from = bits + (at >> 3);
        u32 word = from[0] | from[1] << 8;
        if (shift != 0) // otherwise the third byte may be past the end of the input
            word |= from[2] << 16;
        word >>= shift;
        ((Group *)(out + head))[g] = {spread(word), spread(word >> 4), spread(word >> 8), spread(word >> 12)};
    }
    for (u64 i = head + 16 * groups + first; i < n; i += step)
        out[i] = bit_at(bits, offset + i);
}

// bitmap_pack writes a bit for each of n bytes: 1 for those that are not zero. The bits
// of the last byte beyond n become 0.
KERNEL bitmap_pack(u8 *__restrict__ out, const u8 *__restrict__ bytes, u64 n) {
    const u64 first = thread_in_grid(), step = threads_per_grid();

    u64 words = 0;
    if (aligned(bytes, 16) && aligned(out, 4)) {
        typedef Vector<u32, 4> Group;
        const Group *from = (const Group *)bytes;
        words = n / 32;
        for (u64 w = first; w < words; w += step) {
            const Group low = from[2 * w], high = from[2 * w + 1];
            u32 word = 0;
#pragma unroll
            for (int i = 0; i < 4; i++)
                word |= gather(low.lane[i]) << 4 * i | gather(high.lane[i]) << (16 + 4 * i);
            ((u32 *)out)[w] = word;
        }
    }
    const u64 total = n / 8 + (n % 8 != 0);
    for (u64 o = 4 * words + first; o < total; o += step) {
        u32 byte = 0;
        for (u64 i = 8 * o; i < 8 * o + 8 && i < n; i++)
            byte |= (u32)(bytes[i] != 0) << (i & 7);
        out[o] = byte;
    }
}
