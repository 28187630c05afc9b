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
