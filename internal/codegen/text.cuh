#pragma once
#include "strings.cuh"

// gpuframe_text_word returns 1 to 8 bytes of a string.
FUNCTION u64 gpuframe_text_word(u64 address, u64 bytes, u64 begin, u64 end) {
    return text_word(address, bytes < 8 ? bytes : 8, {begin, end});
}

// gpuframe_text_equal compares the bytes of two strings of one length.
FUNCTION u64 gpuframe_text_equal(u64 a, u64 b, u64 bytes, u64 a_begin, u64 a_end, u64 b_begin, u64 b_end) {
    bytes = bounded(bytes, {a_begin, a_end});
#pragma nounroll
    for (u64 i = 0; i < bytes; i += 8) {
        const u64 left = bytes - i < 8 ? bytes - i : 8;
        if (text_word(a + i, left, {a_begin, a_end}) != text_word(b + i, left, {b_begin, b_end}))
            return 0;
    }
    return 1;
}

// first_before compares two words by their first different byte in memory: -1 or 1.
DEVICE i64 first_before(u64 x, u64 y) { return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1; }

// gpuframe_text_word_order returns -1 or 1 as the bytes of one word are less or greater
// than those of a different one.
FUNCTION i64 gpuframe_text_word_order(u64 x, u64 y) { return first_before(x, y); }

// gpuframe_text_order compares two strings byte by byte, a prefix first: -1, 0 or 1.
FUNCTION i64 gpuframe_text_order(u64 a, u64 a_bytes, u64 b, u64 b_bytes, u64 a_begin, u64 a_end, u64 b_begin, u64 b_end) {
    a_bytes = bounded(a_bytes, {a_begin, a_end});
    b_bytes = bounded(b_bytes, {b_begin, b_end});
    const u64 shorter = a_bytes < b_bytes ? a_bytes : b_bytes;
#pragma nounroll
    for (u64 i = 0; i < shorter; i += 8) {
        const u64 left = shorter - i;
        const u64 x = gpuframe_text_word(a + i, left, a_begin, a_end), y = gpuframe_text_word(b + i, left, b_begin, b_end);
        if (x != y)
            return first_before(x, y);
    }
    return (a_bytes > b_bytes) - (a_bytes < b_bytes);
}
