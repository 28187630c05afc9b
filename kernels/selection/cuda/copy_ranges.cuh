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

// copy_ranges assigns 16 bytes of the output to each thread, independent of string
// boundaries, so long and short strings cost the same and every store is full. It loads
// whole words of each string and shifts them into place.
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
        u64 string = place_of(offsets, span.low, span.high + 1, at);
        u64 low = 0, high = 0;
        for (u32 done = 0;;) {
            const u64 begin = offsets[string], end = offsets[string + 1];
            const u32 length = end - (at + done) < count - done ? end - (at + done) : count - done;
            const u64 from = (u64)data.begin + (u64)begins[string] + (at + done - begin);
            const u64 base = from & ~7ull;
            const u32 inside = from & 7, shift = inside * 8;
            const u64 a = word(data, base);
            const u64 b = inside + length > 8 ? word(data, base + 8) : 0;
            const u64 c = inside + length > 16 ? word(data, base + 16) : 0;
            u64 x = join(a, b, shift), y = join(b, c, shift);
            if (length < 8)
                x &= (1ull << 8 * length) - 1, y = 0;
            else if (length < 16)
                y &= (1ull << (8 * length - 64)) - 1;
            // Append the bytes to those of the previous strings.
            if (done < 8) {
                low |= x << 8 * done;
                high |= done == 0 ? y : y << 8 * done | x >> (64 - 8 * done);
            } else
                high |= x << (8 * done - 64);
            done += length;
            if (done >= count)
                break;
            string++;
            if ((u64)offsets[string + 1] <= at + done) // the string is empty, as many others may be
                string = place_of(offsets, string, span.high + 1, at + done);
        }
        *(Vector<u64, 2> *)(out + at) = {{low, high}};
    }
}

#define COPY_RANGES(width, T)                                                                                          \
    KERNEL LAUNCH_BOUNDS(block_threads) copy_ranges_##width(u8 *out, const T *offsets, const T *begins, u64 strings,   \
                                                            u64 most, const u8 *data, u64 bytes) {                     \
        copy_ranges(out, offsets, begins, strings, most, {data, data + bytes});                                        \
    }
