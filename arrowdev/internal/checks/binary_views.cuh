#pragma once
#include "search.cuh"

// check_binary_views checks views of 16 bytes: a length and, if it is more than 12, the
// first four bytes, the buffer and the offset in it. Null slots may hold anything; the
// bitmap is read only for a view that is wrong.
KERNEL check_binary_views(const u8 *__restrict__ views, u64 n, const u8 *__restrict__ bits, u64 bit_offset,
                          const i64 *__restrict__ lengths, u64 buffers, Result *result) {
    typedef Vector<i32, 4> View;
    constexpr u32 batch = 4;
    const auto outside = [=](i32 length, i32 buffer, i32 offset) {
        if ((u32)length <= 12)
            return false;
        return length < 0 || (u64)(i64)buffer >= buffers || offset < 0 || (i64)offset + length > lengths[buffer];
    };
    const auto suspicious = [=](const View(&got)[batch]) {
        bool found = false;
#pragma unroll
        for (u32 b = 0; b < batch; b++)
            found |= outside(got[b].lane[0], got[b].lane[2], got[b].lane[3]);
        return found;
    };
    const auto wrong = [=](u64 i) {
        i32 word[4] = {};
        // Shifted out of one load of bytes, last word first, so that the load appears
        // once in the code.
#pragma nounroll
        for (u32 w = 0; w < 4; w++) {
            word[3] = word[2], word[2] = word[1], word[1] = word[0];
            word[0] = (i32)load(views, 4 * i + 3 - w, 4);
        }
        return outside(word[0], word[2], word[3]) && valid(bits, bit_offset + i);
    };
    const bool whole = aligned(views, 16);
    const Groups groups = {whole ? 0 : n, whole ? n : 0, 1};
    report(result, search<batch>(n, groups, [=](u64 g) { return ((const View *)views)[g]; }, suspicious, wrong));
}
