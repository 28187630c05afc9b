// Copies the bytes of strings to the positions that the output's offsets give.
#pragma once

#include "take_ranges.cuh"

// Data is the input's memory. No byte beyond its end is read.
struct Data {
    const u8 *begin, *end;
};

// word reads eight bytes from an aligned address. Bytes outside the data are 0.
DEVICE u64 word(const Data &data, u64 address) {
    if (address >= (u64)data.begin && address + 8 <= (u64)data.end)
        return *(const u64 *)address;
    u64 bits = 0;
#pragma nounroll
    for (u32 b = 0; b < 8; b++)
        if (address + b >= (u64)data.begin && address + b < (u64)data.end)
            bits |= (u64) * (const u8 *)(address + b) << 8 * b;
    return bits;
}

DEVICE u64 join(u64 low, u64 high, u32 shift) { return shift == 0 ? low : low >> shift | high << (64 - shift); }

// Piece is up to 16 bytes.
struct Piece {
    u64 low, high;
};

// piece_in returns length bytes, up to 16, from byte inside of the first of three words.
DEVICE Piece piece_in(u64 a, u64 b, u64 c, u32 inside, u32 length) {
    Piece piece = {join(a, b, inside * 8), join(b, c, inside * 8)};
    if (length < 8)
        piece.low &= (1ull << 8 * length) - 1, piece.high = 0;
    else if (length < 16)
        piece.high &= (1ull << (8 * length - 64)) - 1;
    return piece;
}

// piece_of reads up to 16 bytes of one string, from an address.
DEVICE Piece piece_of(const Data &data, u64 from, u32 length) {
    const u64 base = from & ~7ull;
    const u32 inside = from & 7;
    const u64 b = inside + length > 8 ? word(data, base + 8) : 0;
    const u64 c = inside + length > 16 ? word(data, base + 16) : 0;
    return piece_in(word(data, base), b, c, inside, length);
}

// collect returns count bytes of the output, 1 to 16, from at on, which is in one of the
// strings from low to high. It loads whole words of each string and shifts them into place.
template <typename T>
DEVICE Piece collect(const T *offsets, const T *begins, u64 low, u64 high, u64 at, u32 count, const Data &data) {
    u64 string = place_of(offsets, low, high + 1, at);
    Piece all = {0, 0};
    for (u32 done = 0;;) {
        const u64 begin = offsets[string], end = offsets[string + 1];
        const u32 length = end - (at + done) < count - done ? end - (at + done) : count - done;
        const Piece piece = piece_of(data, (u64)data.begin + (u64)begins[string] + (at + done - begin), length);
        // Append the bytes to those of the previous strings.
        if (done < 8) {
            all.low |= piece.low << 8 * done;
            all.high |= done == 0 ? piece.high : piece.high << 8 * done | piece.low >> (64 - 8 * done);
        } else
            all.high |= piece.low << (8 * done - 64);
        done += length;
        if (done >= count)
            return all;
        string++;
        if ((u64)offsets[string + 1] <= at + done) // the string is empty, as many others may be
            string = place_of(offsets, string, high + 1, at + done);
    }
}

// copy_ranges assigns 16 bytes of the output to each thread, independent of string
// boundaries, so long and short strings cost the same and every store is full.
template <typename T>
DEVICE void copy_ranges(u8 *out, const T *__restrict__ offsets, const T *__restrict__ begins, u64 strings, u64 most, Data data) {
    constexpr u32 items = 4, tile = block_threads * items * 16;
    Span span;
    if (!span_of<tile>(offsets, strings, most, span))
        return;
#pragma nounroll
    for (u32 k = 0; k < items; k++) {
        const u64 at = span.first + (thread_in_block() + k * block_threads) * 16;
        if (at > span.last)
            return;
        const u32 count = span.total - at < 16 ? span.total - at : 16;
        const Piece piece = collect(offsets, begins, span.low, span.high, at, count, data);
        *(Vector<u64, 2> *)(out + at) = {{piece.low, piece.high}};
    }
}

#define COPY_RANGES(width, T)                                                                                          \
    KERNEL LAUNCH_BOUNDS(block_threads) copy_ranges_##width(u8 *out, const T *offsets, const T *begins, u64 strings,   \
                                                            u64 most, const u8 *data, u64 bytes) {                     \
        copy_ranges(out, offsets, begins, strings, most, {data, data + bytes});                                        \
    }
