// Reading strings, which begin anywhere, eight bytes at a time.
#pragma once
#include "math.cuh"

// Buffer is the memory that a string lies in, from end to end: nothing beyond is
// read.
struct Buffer {
    u64 begin, end;
};

// aligned_word loads the eight bytes at a multiple of eight; those outside the
// buffer are anything.
DEVICE u64 aligned_word(u64 address, Buffer buffer) {
    if (address >= buffer.begin && address + 8 <= buffer.end)
        return *(const u64 *)address;
    u64 word = 0;
#pragma nounroll
    for (u32 i = 0; i < 8; i++) {
        if (address + i >= buffer.begin && address + i < buffer.end)
            word |= (u64) * (const u8 *)(address + i) << 8 * i;
    }
    return word;
}

// text_word loads up to eight bytes of a string; a word's others are zero.
DEVICE u64 text_word(u64 address, u64 bytes, Buffer buffer) {
    const u32 shift = (u32)(address & 7) * 8;
    u64 word = aligned_word(address & ~7ull, buffer) >> shift;
    if (shift && bytes * 8 > 64 - shift)
        word |= aligned_word((address & ~7ull) + 8, buffer) << (64 - shift);
    return bytes < 8 ? word & ((1ull << bytes * 8) - 1) : word;
}
