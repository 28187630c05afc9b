// Bytes at any address, read by aligned words.
#pragma once

#include "gpuframe.cuh"

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
