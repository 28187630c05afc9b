// Results that are assembled from pieces: a thread makes 16 bytes at a multiple of 16, from
// pieces that begin at any byte. A piece is loaded from as many bytes before its first one as
// there are bytes of the result before it, so that nothing is shifted.
#pragma once
#include "bitrow.cuh"

struct Sixteen {
    u32 word[4];
};

// sixteen_from returns the 16 bytes from a byte of the first of three words on.
DEVICE Sixteen sixteen_from(u64 a, u64 b, u64 c, u32 byte) {
    const u32 words[6] = {(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32), (u32)c, (u32)(c >> 32)};
    const u32 selector = 0x3210 + 0x1111 * (byte & 3);
    Sixteen bytes;
    u32 word[5];
#pragma unroll
    for (u32 k = 0; k < 5; k++)
        word[k] = byte & 4 ? words[k + 1] : words[k];
#pragma unroll
    for (u32 k = 0; k < 4; k++)
        bytes.word[k] = __nvvm_prmt(word[k], word[k + 1], selector);
    return bytes;
}

// replace_behind replaces the bytes from one of them on.
DEVICE void replace_behind(Sixteen &bytes, const Sixteen &with, u32 from) {
#pragma unroll
    for (i32 k = 0; k < 4; k++) {
        const i32 kept = (i32)from - 4 * k;
        u32 mask;
        asm("shl.b32 %0, %1, %2;" : "=r"(mask) : "r"(~0u), "r"(kept > 0 ? 8 * kept : 0)); // 0 from 32 bits on
        bytes.word[k] = (bytes.word[k] & ~mask) | (with.word[k] & mask);
    }
}

// store_part writes the bytes from one of them to before another, to a multiple of 16.
DEVICE void store_part(u8 *to, const Sixteen &bytes, u32 from, u32 until) {
    const u64 low = bytes.word[0] | (u64)bytes.word[1] << 32, high = bytes.word[2] | (u64)bytes.word[3] << 32;
    const auto rest = [&] { return (from < 8 ? low : high) >> from % 8 * 8; };
    // The first pieces make the position a multiple of more bytes, the last ones are the rest.
    if (from % 2 != 0 && from < until)
        to[from] = (u8)rest(), from += 1;
    if (from % 4 != 0 && from + 2 <= until)
        *(u16 *)(to + from) = (u16)rest(), from += 2;
    if (from % 8 != 0 && from + 4 <= until)
        *(u32 *)(to + from) = (u32)rest(), from += 4;
    if (from % 8 == 0 && from + 8 <= until)
        *(u64 *)(to + from) = rest(), from += 8;
    if (from % 8 == 0 && from + 8 <= until)
        *(u64 *)(to + from) = rest(), from += 8;
    if (from % 4 == 0 && from + 4 <= until)
        *(u32 *)(to + from) = (u32)rest(), from += 4;
    if (from % 2 == 0 && from + 2 <= until)
        *(u16 *)(to + from) = (u16)rest(), from += 2;
    if (from < until)
        to[from] = (u8)rest();
}
