// Splits strings: see split.go.
#include "bitrow.cuh"

static constexpr u32 none = 0xffffffff;

// Strings is a column of strings and the separator.
//go:layout stringsLayout any
struct Strings {
    const void *offsets;
    const u8 *data, *valid;
    u64 bit;
    const i64 *counted;
    i64 rows;
    u64 capacity, extent;
    u32 width; // of an offset in bytes
    u32 length;
    const u8 *separator;
};

struct Range {
    u64 begin, end;
    bool valid;
};

DEVICE i64 word_of(const void *words, u32 width, u64 i) { return width == 4 ? ((const i32 *)words)[i] : ((const i64 *)words)[i]; }

// range_of returns the bytes of a row. A row that reaches beyond the data is empty.
DEVICE Range range_of(const Strings &s, u64 rows, u64 i) {
    const u64 bit = s.bit + i;
    if (i >= rows || s.valid != nullptr && (s.valid[bit / 8] >> (bit % 8) & 1) == 0)
        return {0, 0, false};
    const u64 begin = word_of(s.offsets, s.width, i), end = word_of(s.offsets, s.width, i + 1);
    if (begin > end || end > s.extent)
        return {0, 0, true};
    return {begin, end, true};
}

// matches reports whether the separator is at a place.
DEVICE bool matches(const Strings &s, u64 at) {
    for (u32 k = 0; k < s.length; k++)
        if (s.data[at + k] != s.separator[k])
            return false;
    return true;
}

static constexpr u64 each_byte = 0x0101010101010101;

// load_bytes returns the bytes at an aligned address. Bytes beyond the data are not read.
DEVICE u64 load_bytes(const Strings &s, const u8 *at) {
    if (at >= s.data && at + 8 <= s.data + s.extent)
        return *(const u64 *)at;
    u64 word = 0;
    for (u32 i = 0; i < 8; i++)
        if (at + i >= s.data && at + i < s.data + s.extent)
            word |= (u64)at[i] << 8 * i;
    return word;
}

// next returns the place of the next separator, or the end. It reads 8 bytes at a time, and
// compares where the first byte of the separator is.
DEVICE u64 next(const Strings &s, u64 at, u64 end) {
    const u64 byte = s.separator[0] * each_byte;
    while (at + s.length <= end) {
        const u32 skip = (u64)(s.data + at) & 7;
        const u64 differs = load_bytes(s, s.data + at - skip) ^ byte;
        // The high bit of each byte that is equal.
        u64 equal = ~((differs & 0x7f * each_byte) + 0x7f * each_byte | differs | 0x7f * each_byte);
        for (equal >>= 8 * skip; equal != 0; equal &= equal - 1) {
            const u64 found = at + __builtin_ctzll(equal) / 8;
            if (found + s.length > end)
                return end;
            if (s.length == 1 || matches(s, found))
                return found;
        }
        at += 8 - skip;
    }
    return end;
}

// split_count writes the number of parts of each row, and none for a null row.
KERNEL LAUNCH_BOUNDS(256) split_count(u32 *begins, i64 *counts, Strings s) {
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < s.capacity; i += step) {
        const Range range = range_of(s, rows, i);
        i64 count = range.valid;
        if (range.valid)
            for (u64 at = next(s, range.begin, range.end); at < range.end; at = next(s, at + s.length, range.end))
                count++;
        begins[i] = range.valid ? 0 : none;
        counts[i] = count;
    }
}

// split_places writes the place and the length of each part.
KERNEL LAUNCH_BOUNDS(256) split_places(u64 *places, u64 *lengths, const i64 *ends, Strings s) {
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < s.capacity; i += step) {
        const Range range = range_of(s, rows, i);
        if (!range.valid)
            continue;
        u64 part = i == 0 ? 0 : ends[i - 1], from = range.begin;
        for (const u64 last = ends[i] - 1; part < last; part++) {
            const u64 at = next(s, from, range.end);
            places[part] = from, lengths[part] = at - from;
            from = at + s.length;
        }
        places[part] = from, lengths[part] = range.end - from;
    }
}
