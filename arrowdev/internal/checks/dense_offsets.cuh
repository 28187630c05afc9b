#pragma once
#include "search.cuh"

// check_dense_offsets checks the offsets of a dense union, as unsigned numbers, against
// lengths by the ids from 0 to 127. A length is that of the child, at most 2³¹, or zero
// if no child has the id.
KERNEL check_dense_offsets(const u8 *__restrict__ ids, const u8 *__restrict__ offsets, u64 n, const u32 *__restrict__ lengths,
                           Result *result) {
    struct Slots {
        u32 ids;
        Vector<u32, 4> offsets;
    };
    constexpr u32 batch = 4;
    // Four ids are read with four offsets, so both must be aligned together.
    const bool together = (((u64)offsets >> 2 ^ (u64)ids) & 3) == 0;
    const Groups groups = groups_of(offsets, n, 4, together);
    const u32 *ids_from = (const u32 *)(ids + groups.head);
    const Vector<u32, 4> *offsets_from = (const Vector<u32, 4> *)(offsets + 4 * groups.head);
    const auto suspicious = [=](const Slots(&got)[batch]) {
        u32 negative = 0;
        bool found = false;
#pragma unroll
        for (u32 b = 0; b < batch; b++) {
            negative |= got[b].ids;
#pragma unroll
            for (u32 j = 0; j < 4; j++)
                found |= got[b].offsets.lane[j] >= lengths[got[b].ids >> 8 * j & 127];
        }
        return found || (negative & 0x80808080) != 0;
    };
    const auto wrong = [=](u64 i) {
        const u32 id = ids[i];
        return id >= 128 || load(offsets, i, 4) >= lengths[id];
    };
    report(result, search<batch>(n, groups, [=](u64 g) { return Slots{ids_from[g], offsets_from[g]}; }, suspicious, wrong));
}
