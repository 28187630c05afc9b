#pragma once
#include "search.cuh"

// check_type_ids checks that the bit of each id is set in low, for the ids up to 63, or
// in high, for those up to 127.
KERNEL check_type_ids(const u8 *__restrict__ ids, u64 n, u64 low, u64 high, Result *result) {
    typedef Vector<u32, 4> Group;
    constexpr u32 batch = 2;
    const Groups groups = groups_of(ids, n, 1, true);
    const Group *from = (const Group *)(ids + groups.head);
    const auto suspicious = [=](const Group(&got)[batch]) {
        // Copies, because otherwise the compiler would select between the addresses of
        // captured variables, which forces them into memory.
        const u64 below_64 = low, above = high;
        u32 word[4 * batch], negative = 0;
#pragma unroll
        for (u32 w = 0; w < 4 * batch; w++) {
            word[w] = got[w / 4].lane[w % 4];
            negative |= word[w];
        }
        u32 allowed = 1;
        // Each iteration checks the lowest byte of each word.
#pragma nounroll
        for (u32 b = 0; b < 4; b++)
#pragma unroll
            for (u32 w = 0; w < 4 * batch; w++) {
                allowed &= (u32)((word[w] & 64 ? above : below_64) >> (word[w] & 63));
                word[w] >>= 8;
            }
        return (negative & 0x80808080) != 0 || allowed == 0;
    };
    const auto wrong = [=](u64 i) {
        const u64 below_64 = low, above = high;
        const u32 id = ids[i];
        return id >= 128 || !((id & 64 ? above : below_64) >> (id & 63) & 1);
    };
    report(result, search<batch>(n, groups, [=](u64 g) { return from[g]; }, suspicious, wrong));
}
