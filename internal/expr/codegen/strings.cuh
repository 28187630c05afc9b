// Reads strings, which begin at any address, eight bytes at a time.
#pragma once
#include "math.cuh"

// Buffer is the whole memory that contains a string. Nothing outside it is read.
struct Buffer {
    u64 begin, end;
};

// aligned_word loads the eight bytes at a multiple of eight; those outside the buffer
// are zero. The address may be invalid, because offsets of unsound columns point
// anywhere.
DEVICE u64 aligned_word(u64 address, Buffer buffer) {
    const u64 size = buffer.end - buffer.begin, offset = address - buffer.begin;
    if (offset < size && size - offset >= 8)
        return *(const u64 *)address;
    u64 word = 0;
#pragma nounroll
    for (u32 i = 0; i < 8; i++) {
        if (offset + i < size)
            word |= (u64) * (const u8 *)(address + i) << 8 * i;
    }
    return word;
}

// bounded limits the length of a string, which is arbitrary in an unsound column, to
// that of the buffer.
DEVICE u64 bounded(u64 bytes, Buffer buffer) {
    const u64 size = buffer.end - buffer.begin;
    return bytes < size ? bytes : size;
}

// text_word loads up to eight bytes of a string; the word's other bytes are zero.
DEVICE u64 text_word(u64 address, u64 bytes, Buffer buffer) {
    const u32 shift = (u32)(address & 7) * 8;
    u64 word = aligned_word(address & ~7ull, buffer) >> shift;
    if (shift && bytes * 8 > 64 - shift)
        word |= aligned_word((address & ~7ull) + 8, buffer) << (64 - shift);
    return bytes < 8 ? word & ((1ull << bytes * 8) - 1) : word;
}
