// Copies the bytes of strings to the positions that the output's offsets give.
#pragma once

#include "pieces.cuh"
#include "take_ranges.cuh"

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
