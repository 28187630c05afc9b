// Copies the bytes of short strings to the positions that the output's offsets give.
//
// A block has a tile of rows. Each thread loads its strings and puts their words into
// shared memory, and the block stores these bytes, which are consecutive in the output. So
// no thread searches the string of a byte, as those of copy_ranges do.
#pragma once

#include "copy_ranges.cuh"

static constexpr u32 copy_items = 4, copy_tile = block_threads * copy_items;
// The most bytes of a tile that shared memory has room for, and of one string. Others are
// collected by the block in pieces of 16 bytes.
static constexpr u32 copy_room = 32 << 10, copy_longest = 256;

// put_piece adds up to 16 bytes to words of shared memory that are zero there. Words may be
// shared with other threads.
DEVICE void put_piece(u32 *words, u32 at, u32 length, const Piece &piece) {
    const u32 inside = at % 4, shift = inside * 8, last = (inside + length + 3) / 4;
    const u32 part[4] = {(u32)piece.low, (u32)(piece.low >> 32), (u32)piece.high, (u32)(piece.high >> 32)};
    u32 *const to = words + at / 4;
#pragma unroll
    for (u32 i = 0; i < 5; i++) {
        const u64 both = (u64)(i < 4 ? part[i < 4 ? i : 0] : 0) << 32 | (i > 0 ? part[i > 0 ? i - 1 : 0] : 0);
        if (i < last)
            __atomic_fetch_or(to + i, (u32)(both << shift >> 32), __ATOMIC_RELAXED);
    }
}

// store_bytes stores the first bytes of a piece.
DEVICE void store_bytes(u8 *out, u32 count, const Piece &piece) {
#pragma nounroll
    for (u32 b = 0; b < count; b++)
        out[b] = (u8)(b < 8 ? piece.low >> 8 * b : piece.high >> (8 * b - 64));
}

// Rows are the strings of a thread.
template <typename T> struct Rows {
    u64 from[copy_items]; // addresses
    u32 at[copy_items], length[copy_items];

    // load reads the thread's offsets. at is relative to a place in the output. It reports
    // whether no string is longer than copy_longest.
    METHOD bool load(const T *__restrict__ offsets, const T *__restrict__ begins, u64 first, u64 rows, u64 base, u64 most, const Data &data) {
        bool are_short = true;
#pragma unroll
        for (u32 k = 0; k < copy_items; k++) {
            const u64 row = first + k * block_threads + thread_in_block();
            u64 begin = most, end = most;
            from[k] = (u64)data.begin;
            if (row < rows) {
                begin = offsets[row], end = offsets[row + 1];
                from[k] += (u64)begins[row];
            }
            begin = begin < most ? begin : most, end = end < most ? end : most;
            are_short &= end - begin <= copy_longest;
            at[k] = begin - base, length[k] = end - begin;
        }
        return are_short;
    }

    // pieces reads the first bytes of the strings, up to 16 of each. All words are loaded
    // before the first is used. The data has 16 bytes or more.
    METHOD void pieces(Piece (&piece)[copy_items], const Data &data) const {
        const u64 any = ((u64)data.begin + 7) & ~7ull;
        u64 word[copy_items][3];
        bool inside[copy_items];
#pragma unroll
        for (u32 k = 0; k < copy_items; k++) {
            const u64 base = from[k] & ~7ull, end = (from[k] & 7) + length[k];
            inside[k] = base >= (u64)data.begin && base + 24 <= (u64)data.end;
            const u64 a = inside[k] ? base : any;
            word[k][0] = *(const u64 *)a;
            word[k][1] = *(const u64 *)(inside[k] && end > 8 ? a + 8 : a);
            word[k][2] = *(const u64 *)(inside[k] && end > 16 ? a + 16 : a);
        }
#pragma unroll
        for (u32 k = 0; k < copy_items; k++) {
            const u32 bytes = length[k] < 16 ? length[k] : 16;
            if (inside[k])
                piece[k] = piece_in(word[k][0], word[k][1], word[k][2], from[k] & 7, bytes);
            else if (bytes > 0)
                piece[k] = piece_of(data, from[k], bytes);
            else
                piece[k] = {0, 0};
        }
    }
};

// Bytes are those of a tile in the output.
struct Bytes {
    u64 begin, end;

    METHOD u64 base() const { return begin & ~15ull; }
    // within returns the bytes of the tile in the 16 from an address on.
    METHOD Bytes within(u64 at) const { return {at > begin ? at : begin, at + 16 < end ? at + 16 : end}; }
};

// put_rows puts the strings of a thread into shared memory that is zero. It reports whether
// they are short.
template <typename T> DEVICE bool put_rows(u32 *words, const Rows<T> &strings, bool fit, const Data &data) {
    static __shared__ u32 unfit[block_threads / warp_threads];
    Piece piece[copy_items];
    strings.pieces(piece, data);
    const u32 lanes = ballot(!fit);
    if (lane_in_warp() == 0)
        unfit[thread_in_block() / warp_threads] = lanes;
    synchronize_block();
    u32 any = 0;
#pragma unroll
    for (u32 i = 0; i < block_threads / warp_threads; i++)
        any |= unfit[i];
    if (any != 0)
        return false;
#pragma unroll
    for (u32 k = 0; k < copy_items; k++) {
        if (strings.length[k] > 0)
            put_piece(words, strings.at[k], strings.length[k] < 16 ? strings.length[k] : 16, piece[k]);
#pragma nounroll
        for (u32 done = 16; done < strings.length[k]; done += 16) {
            const u32 length = strings.length[k] - done < 16 ? strings.length[k] - done : 16;
            put_piece(words, strings.at[k] + done, length, piece_of(data, strings.from[k] + done, length));
        }
    }
    synchronize_block();
    return true;
}

// copy_rows copies the strings of copy_tile rows. Neighbouring tiles share words of the output.
template <typename T>
DEVICE void copy_rows(u8 *out, const T *__restrict__ offsets, const T *__restrict__ begins, u64 rows, u64 most, Data data) {
    alignas(16) static __shared__ u32 words[copy_room / 4 + 4];
    Vector<u64, 2> *const shared = (Vector<u64, 2> *)words;
    const u64 first = (u64)block_in_grid() * copy_tile, last = first + copy_tile < rows ? first + copy_tile : rows;
    const u64 begin = offsets[first], end = offsets[last];
    const Bytes bytes = {begin < most ? begin : most, end < most ? end : most};
    const bool fits = bytes.end - bytes.begin <= copy_room;
    Rows<T> strings;
    const bool are_short = strings.load(offsets, begins, first, rows, bytes.base(), most, data);
    if (fits)
#pragma nounroll
        for (u64 at = bytes.base() + thread_in_block() * 16; at < bytes.end; at += block_threads * 16)
            shared[(at - bytes.base()) / 16] = {{0, 0}};
    const bool put = put_rows(words, strings, fits && are_short, data);
#pragma nounroll
    for (u64 at = bytes.base() + thread_in_block() * 16; at < bytes.end; at += block_threads * 16) {
        const Bytes part = bytes.within(at);
        const u32 count = part.end - part.begin, skipped = part.begin - at;
        Piece piece;
        if (!put)
            piece = collect(offsets, begins, first, last - 1, part.begin, count, data);
        else {
            const Vector<u64, 2> stored = shared[(at - bytes.base()) / 16];
            piece = {stored.lane[0], stored.lane[1]};
            if (skipped >= 8)
                piece = {piece.high >> 8 * (skipped - 8), 0};
            else if (skipped > 0)
                piece = {piece.low >> 8 * skipped | piece.high << (64 - 8 * skipped), piece.high >> 8 * skipped};
        }
        if (count == 16)
            *(Vector<u64, 2> *)(out + at) = {{piece.low, piece.high}};
        else
            store_bytes(out + part.begin, count, piece);
    }
}

#define COPY_ROWS(width, T)                                                                                            \
    KERNEL LAUNCH_BOUNDS(block_threads) copy_rows_##width(u8 *out, const T *offsets, const T *begins, u64 strings,     \
                                                          u64 most, const u8 *data, u64 bytes) {                       \
        copy_rows(out, offsets, begins, strings, most, {data, data + bytes});                                          \
    }
