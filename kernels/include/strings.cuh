// Columns of strings as kernels read them.
#pragma once
#include "bitrow.cuh"

// Strings is a column of strings.
//go:layout stringsLayout any
struct Strings {
    const void *offsets;
    const u8 *data, *valid;
    u64 bit;
    const i64 *counted;
    i64 rows;
    u64 capacity, extent;
    u32 width; // of an offset in bytes
};

// Row is the bytes of a row.
struct Row {
    const u8 *begin;
    u64 length;
    bool valid;
};

DEVICE i64 word_of(const void *words, u32 width, u64 i) { return width == 4 ? ((const i32 *)words)[i] : ((const i64 *)words)[i]; }

// row_of returns a row. One that reaches beyond the data is empty. rows is the result of
// device_rows.
DEVICE Row row_of(const Strings &s, u64 rows, u64 i) {
    const u64 bit = s.bit + i;
    if (i >= rows || s.valid != nullptr && (s.valid[bit / 8] >> (bit % 8) & 1) == 0)
        return {s.data, 0, false};
    const u64 begin = word_of(s.offsets, s.width, i), end = word_of(s.offsets, s.width, i + 1);
    if (begin > end || end > s.extent)
        return {s.data, 0, true};
    return {s.data + begin, end - begin, true};
}

struct Character {
    u32 value, width;
};

// decode returns the character at the beginning of some bytes, as utf8.DecodeRune: U+FFFD
// of width 1 if it is not valid. There is at least one byte.
DEVICE Character decode(const u8 *at, u64 length) {
    const u32 a = at[0];
    if (a < 0x80)
        return {a, 1};
    const u32 width = a >= 0xf0 ? 4 : a >= 0xe0 ? 3 : 2;
    const Character invalid = {0xfffd, 1};
    if (a < 0xc2 || a > 0xf4 || length < width)
        return invalid;
    u32 value = a & (0xff >> (width + 1));
    for (u32 i = 1; i < width; i++) {
        const u32 next = at[i];
        if ((next & 0xc0) != 0x80)
            return invalid;
        value = value << 6 | (next & 0x3f);
    }
    if (width == 3 && (value < 0x800 || value >= 0xd800 && value < 0xe000) || width == 4 && (value < 0x10000 || value > 0x10ffff))
        return invalid;
    return {value, width};
}
