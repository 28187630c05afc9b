// Bits of Zstandard: bytes are little-endian, most streams are read from their ends (RFC 8878, 4.1).
#pragma once

#include "scan.cuh"

// Span is bytes of a page's input that are not read yet.
struct Span {
    const u8 *at, *end;

    METHOD u64 left() const { return (u64)(end - at); }
};

// peek returns the 32 bits at a position of a span, from the least significant bit of its first
// byte. Bits after the end are zero.
DEVICE u32 peek(const Span &in, u32 bit) {
    const u8 *at = in.at + bit / 8;
    const u32 *words = (const u32 *)((u64)at & ~3ull);
    if ((const u8 *)words >= in.at && (const u8 *)(words + 2) <= in.end)
        return (u32)(((u64)words[1] << 32 | words[0]) >> ((u64)at % 4 * 8 + bit % 8));
    u64 word = 0;
#pragma unroll
    for (u32 k = 0; k < 5; k++)
        if (at + k < in.end)
            word |= (u64)at[k] << (8 * k);
    return (u32)(word >> (bit % 8));
}

// stream_bits returns the number of bits before the final bit of a stream, which is the highest
// bit of its last byte. It is negative if the stream has no such bit.
DEVICE i32 stream_bits(const Span &in) {
    if (in.at >= in.end || in.end[-1] == 0)
        return -1;
    return (i32)((in.left() - 1) * 8) + 31 - __builtin_clz((u32)in.end[-1]);
}

// bits_before returns the n bits before a position of a stream. Bits before its start are zero.
DEVICE u32 bits_before(const Span &in, i32 position, u32 n) {
    const u32 mask = (1u << n) - 1;
    if (position >= (i32)n)
        return peek(in, (u32)(position - (i32)n)) & mask;
    if (position <= 0)
        return 0;
    return (peek(in, 0) & ((1u << position) - 1)) << (n - (u32)position);
}

// stream_word returns the aligned word at an address, with zeros for the bytes outside of a stream.
DEVICE u32 stream_word(const Span &in, const u8 *at) {
    if (at >= in.at && at + 4 <= in.end)
        return *(const u32 *)at;
    u32 word = 0;
#pragma nounroll
    for (u32 k = 0; k < 4; k++)
        if (at + k >= in.at && at + k < in.end)
            word |= (u32)at[k] << (8 * k);
    return word;
}

// Bits is a register of bits of a stream that is read from its end: the next bit is the highest.
struct Bits {
    u64 word;
    // count is the number of bits that were loaded and not taken.
    u32 count;
    // next is the address of the word that was loaded last.
    const u8 *next;

    // begin loads the last word of a stream of a number of bits.
    METHOD void begin(const Span &in, i32 bits) {
        const u8 *last = in.end - 1;
        next = (const u8 *)((u64)last & ~3ull);
        count = (u32)(bits % 8) + 8 * (u32)(last - next);
        word = count ? (u64)stream_word(in, next) << (64 - count) : 0;
    }

    // add appends 32 bits. There is space for them if there are at most 32.
    METHOD void add(u32 bits) {
        word |= (u64)bits << (32 - count);
        count += 32;
    }

    METHOD void skip(u32 n) {
        word <<= n;
        count -= n;
    }

    // take returns the next n bits, at most 31.
    METHOD u32 take(u32 n) {
        const u32 value = (u32)((word >> 32 << n) >> 32);
        skip(n);
        return value;
    }

    // left returns the number of bits that were not taken. It is negative if more were taken
    // than the stream has.
    METHOD i64 left(const Span &in) const { return (i64)(next - in.at) * 8 + count; }
};
